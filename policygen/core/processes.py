"""Calls a function for many items in two processes: this one, and a copy of it.

The copy is made with fork, so it has all objects in memory already. Fork is safe only if this process
has no other thread, and only on Linux (which has memfd_create): libraries of macOS do not support it.
"""

import os
import select
import signal
import struct
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NoReturn, TypeVar

import msgspec

T = TypeVar("T")
R = TypeVar("R")

_PARTS = 400
"""The most parts: a pipe can hold a token and an entry for each. Each token allows to do one more part."""
_TOKEN = struct.Struct("=H")
"""The number of the next part in the order of the items."""
_ENTRY = struct.Struct("=HQQ")
"""The number of a part that the copy has done, and where its results are: start and length."""


def usable() -> bool:
    """Whether a second process can be made, and has a processor of its own."""
    if not hasattr(os, "memfd_create") or threading.active_count() > 1:
        return False
    return len(os.sched_getaffinity(0)) > 1


@contextmanager
def begun(
    function: Callable[[T], R],
    items: Sequence[T],
    dump: Callable[[R], bytes],
    load: Callable[[bytes], R],
    *,
    in_order: bool = False,
) -> Iterator[Callable[[], Iterator[R]]]:
    """Start the copy, for a block in which this process can do other work first. Needs `usable`.

    Yields a function that returns the results in the order of the items, each as soon as it is known.
    The copy begins with the first items, and this process, while it waits, with the last: neighbours
    often share work. With `in_order`, both take the next item: then few results are left to use when the
    copy has ended. `dump` and `load` pass on what the copy returns. What it does not return, because
    it was killed or the function raised an exception, is computed here.
    """
    size = -(-len(items) // _PARTS) or 1
    parts = [items[start : start + size] for start in range(0, len(items), size)]
    tokens, writer = os.pipe()
    os.write(writer, b"".join(map(_TOKEN.pack, range(len(parts)))))
    os.close(writer)
    answer, writer = os.pipe()
    texts = os.memfd_create("results")  # a pipe would be full before this process reads it
    try:
        copy = os.fork()
    except OSError:  # no process or memory is left
        for it in (tokens, answer, writer, texts):
            os.close(it)
        yield lambda: map(function, items)
        return
    if copy == 0:
        os.close(answer)  # so that it ends if this process is killed
        mine = _taken(tokens, None if in_order else range(len(parts)))
        _answer(writer, texts, lambda it: dump(function(it)), parts, mine)

    def results() -> Iterator[R]:
        found: dict[int, list[R]] = {}
        mine = _taken(tokens, None if in_order else reversed(range(len(parts))))
        arrived = select.poll()
        arrived.register(answer, select.POLLIN)
        for number, part in enumerate(parts):
            while number not in found:
                if not arrived.poll(0) and (own := next(mine, None)) is not None:
                    found[own] = list(map(function, parts[own]))
                    continue
                if not (entry := os.read(answer, _ENTRY.size)):
                    break  # the copy has ended without this part
                done, start, length = _ENTRY.unpack(entry)
                dumped = msgspec.msgpack.decode(os.pread(texts, length, start), type=list[bytes])
                found[done] = list(map(load, dumped))
            yield from found.pop(number) if number in found else map(function, part)

    try:
        os.close(writer)
        yield results
    finally:
        for it in (tokens, answer, texts):
            os.close(it)
        # If this process ignores SIGCHLD, a copy that has ended is gone.
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(copy, signal.SIGKILL)
            os.waitpid(copy, 0)


def _taken(tokens: int, order: Iterable[int] | None) -> Iterator[int]:
    """The numbers of the parts that one process does, in an order of its own, or in that of the items."""
    numbers = iter(order or ())
    while token := os.read(tokens, _TOKEN.size):
        yield _TOKEN.unpack(token)[0] if order is None else next(numbers)


def _answer(
    writer: int,
    texts: int,
    function: Callable[[T], bytes],
    parts: Sequence[Sequence[T]],
    mine: Iterator[int],
) -> NoReturn:
    """Do the work of the copy. It ends without cleaning up, because files and exits are not its own."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # without a traceback
        start = 0
        with open(texts, "wb") as file:
            for number in mine:
                length = file.write(msgspec.msgpack.encode(list(map(function, parts[number]))))
                file.flush()
                os.write(writer, _ENTRY.pack(number, start, length))
                start += length
    finally:
        os._exit(0)
