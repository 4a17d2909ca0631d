"""A function is called in two processes, with the same results as in one."""

import os
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path
from unittest import mock

import pytest

from policygen.core import processes
from tests.own_process import in_own_process

ITEMS = tuple(range(1000))


def mapped(*arguments, in_order=False):
    with processes.begun(*arguments, in_order=in_order) as results:
        return list(results())


def doubled(function, items=ITEMS, *, in_order=False):
    return mapped(function, items, lambda it: str(it).encode(), int, in_order=in_order)


@in_own_process
def test_results_are_in_the_order_of_the_items():
    assert processes.usable()
    for count in (0, 1, 2, 399, 400, 401, 1000):
        for in_order in (False, True):
            found = doubled(lambda it: 2 * it, ITEMS[:count], in_order=in_order)
            assert found == [2 * it for it in range(count)]


@in_own_process
def test_both_processes_take_the_next_item_or_begin_at_both_ends():
    parent = os.getpid()
    for in_order in (False, True):
        done = []
        reader, writer = os.pipe()
        os.write(writer, b".")

        def where(it, done=done, reader=reader, writer=writer):
            if os.getpid() == parent:
                done.append(it)
                os.write(writer, b".")
            else:
                os.read(reader, 1)  # wait until the parent has done as many
            return it

        assert doubled(where, ITEMS[:9], in_order=in_order) == [*ITEMS[:9]]
        assert done == sorted(done, reverse=not in_order)
        assert len(done) >= 4


@in_own_process
def test_both_processes_work():
    parent = os.getpid()
    waited = threading.Event()

    def where(_):
        waited.wait(0.005)  # so that one of them cannot take all
        return os.getpid()

    found = set(doubled(where))
    assert parent in found
    assert len(found) == 2


@in_own_process
def test_this_process_works_alone_if_no_other_can_be_made():
    before = [*Path("/proc/self/fd").iterdir()]
    with mock.patch.object(os, "fork", side_effect=BlockingIOError):
        assert doubled(lambda it: 2 * it) == [2 * it for it in ITEMS]
    assert [*Path("/proc/self/fd").iterdir()] == before


@in_own_process
def test_a_copy_for_which_nobody_must_wait():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    assert doubled(lambda it: 2 * it) == [2 * it for it in ITEMS]


@in_own_process
def test_the_copy_ends_if_its_results_have_no_reader():
    reader, writer = os.pipe()
    dying = os.fork()
    if dying == 0:
        with processes.begun(lambda _: b"x" * 100_000, ITEMS[:9], bytes, bytes):
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(dying, 0)
    os.close(writer)
    ended, _, _ = select.select([reader], [], [], 60)
    assert ended  # no process has the other end any more


@in_own_process
def test_the_copy_begins_at_once():
    parent = os.getpid()
    reader, writer = os.pipe()

    def where(item):
        if os.getpid() != parent:
            os.write(writer, b"x")
        return f"{item} {os.getpid() == parent}"

    with processes.begun(where, ITEMS[:9], str.encode, bytes.decode) as results:
        for _ in range(9):
            os.read(reader, 1)  # this process has not begun
        assert list(results()) == [f"{item} False" for item in range(9)]
    with processes.begun(where, ITEMS[:9], str.encode, bytes.decode):
        pass  # nothing waits for a copy whose results are not needed
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


@in_own_process
def test_results_come_as_soon_as_they_are_known():
    parent = os.getpid()
    reader, writer = os.pipe()
    waiting, begun = os.pipe()

    def where(item):
        if os.getpid() != parent and item == 2:
            os.write(begun, b"x")
            os.read(reader, 1)
        return f"{item} {os.getpid() == parent}"

    with processes.begun(where, ITEMS[:4], str.encode, bytes.decode) as results:
        os.read(waiting, 1)  # the copy has begun with the third item
        found = results()
        assert [next(found), next(found)] == ["0 False", "1 False"]
        os.write(writer, b"x")
        assert next(found) == "2 False"


@in_own_process
def test_what_the_copy_does_not_return_is_computed_here():
    parent = os.getpid()

    def dies(item):
        if os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        return item

    def raises(item):
        if os.getpid() != parent:
            raise ValueError
        return item

    assert doubled(dies) == doubled(raises) == list(ITEMS)


@in_own_process
def test_an_exception_is_raised_and_leaves_no_process():
    def fails(item):
        if item == 500:
            raise LookupError
        return item

    with pytest.raises(LookupError):
        doubled(fails)
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


@in_own_process
def test_more_than_a_pipe_holds_is_returned():
    found = mapped(lambda it: "x" * 10_000 + str(it), ITEMS, str.encode, bytes.decode)
    assert found == ["x" * 10_000 + str(it) for it in ITEMS]


def test_another_thread_prevents_a_copy():
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    assert not processes.usable()
    done.set()
    thread.join()


INTERRUPTED = """
import os
import time
from policygen.core import processes

def wait(_):
    os.write(1, b"here\\n")  # at once; print writes the end of the line by itself
    time.sleep(60)

with processes.begun(wait, (1, 2), str.encode, bytes.decode) as results:
    list(results())
"""


def test_an_interrupt_ends_both_and_the_copy_prints_nothing():
    command = [sys.executable, "-c", INTERRUPTED]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert [process.stdout.readline() for _ in range(2)] == ["here\n"] * 2
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)  # both have closed the pipes
    assert process.returncode == -signal.SIGINT
    assert err.count("KeyboardInterrupt") == 1
