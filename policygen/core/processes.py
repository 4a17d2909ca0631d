"""Calls a function for many items in two processes: this one, and a copy of it.

The copy is made with fork, so it has all objects in memory already. Fork is safe only if this process
has no other thread, and only on Linux: libraries of macOS do not support it.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NoReturn, TypeVar

import msgspec

T = TypeVar("T")
R = TypeVar("R")

_Part = tuple[int, Sequence[T]]
"""Neighbouring items, and their number."""
_PARTS = 255
"""The most parts: a pipe can hold a byte for each."""


def usable() -> bool:
    """Whether a second process can be made, and has a processor of its own."""
    if sys.platform != "linux" or threading.active_count() > 1:
        return False
    return len(os.sched_getaffinity(0)) > 1


@contextmanager
def begun(
    function: Callable[[T], R],
    items: Sequence[T],
    dump: Callable[[R], bytes],
    load: Callable[[bytes], R],
) -> Iterator[Callable[[], list[R]]]:
    """Start the copy, for a block in which this process can do other work first. Needs `usable`.

    Yields a function that returns the results in the order of the items. This process begins with
    the first items, and the copy with the last: neighbours often share work. `dump` and `load` pass on
    what the copy returns. What it does not return, because it was killed or the function raised an
    exception, is computed here.
    """
    size = -(-len(items) // _PARTS) or 1
    parts = [items[start : start + size] for start in range(0, len(items), size)]
    tokens, writer = os.pipe()
    os.write(writer, bytes(len(parts)))
    os.close(writer)
    answer, writer = os.pipe()
    try:
        copy = os.fork()
    except OSError:  # no process or memory is left
        for it in (tokens, answer, writer):
            os.close(it)
        yield lambda: list(map(function, items))
        return
    if copy == 0:
        os.close(answer)  # so that it ends if this process is killed
        _answer(writer, lambda it: dump(function(it)), [*enumerate(parts)][::-1], tokens)

    def results() -> list[R]:
        found = _done(function, enumerate(parts), tokens)
        for number, dumped in _read(answer).items():
            found[number] = list(map(load, dumped))
        return [
            result
            for number, part in enumerate(parts)
            for result in (found[number] if number in found else map(function, part))
        ]

    try:
        os.close(writer)
        yield results
    finally:
        os.close(tokens)
        os.close(answer)
        # If this process ignores SIGCHLD, a copy that has ended is gone.
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(copy, signal.SIGKILL)
            os.waitpid(copy, 0)


def _answer(
    writer: int, function: Callable[[T], bytes], parts: Iterable[_Part[T]], tokens: int
) -> NoReturn:
    """Do the work of the copy. It ends without cleaning up, because files and exits are not its own."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # without a traceback
        found = _done(function, parts, tokens)
        with open(writer, "wb") as file:
            file.write(msgspec.msgpack.encode(found))
    finally:
        os._exit(0)


def _done(function: Callable[[T], R], parts: Iterable[_Part[T]], tokens: int) -> dict[int, list[R]]:
    """The results of the parts that this process does. Each byte of `tokens` allows one more."""
    return {number: list(map(function, part)) for number, part in parts if os.read(tokens, 1)}


def _read(answer: int) -> dict[int, list[bytes]]:
    """What the copy returned by part; nothing if it did not finish."""
    with open(answer, "rb", closefd=False) as file, suppress(msgspec.DecodeError):
        return msgspec.msgpack.decode(file.read(), type=dict[int, list[bytes]])
    return {}
