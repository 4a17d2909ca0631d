"""Calls a function for many items in two processes: this one, and a copy of it.

The copy is made with fork, so it has all objects in memory already. Fork is safe only if this process
has no other thread, and only on Linux: libraries of macOS do not support it.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import NoReturn, TypeVar

import msgspec

T = TypeVar("T")
R = TypeVar("R")

_PARTS = 255
"""A part of the items has a number that fits into one byte."""


def usable() -> bool:
    """Whether a second process can be made, and has a processor of its own."""
    if sys.platform != "linux" or threading.active_count() > 1:
        return False
    return len(os.sched_getaffinity(0)) > 1


def mapped(
    function: Callable[[T], R],
    items: Sequence[T],
    dump: Callable[[R], bytes],
    load: Callable[[bytes], R],
) -> list[R]:
    """The results of a function, in the order of the items. Needs `usable`.

    Both processes take the next part from one pipe. `dump` and `load` pass on what the copy
    returns. What the copy does not return, because it was killed or the function raised an
    exception, is computed here.
    """
    size = -(-len(items) // _PARTS) or 1
    parts = [items[start : start + size] for start in range(0, len(items), size)]
    numbers, writer = os.pipe()
    os.write(writer, bytes(range(len(parts))))
    os.close(writer)
    answer, writer = os.pipe()
    copy = os.fork()
    if copy == 0:
        _answer(writer, lambda it: dump(function(it)), parts, numbers)
    try:
        os.close(writer)
        found = {number: list(map(function, parts[number])) for number in _next(numbers)}
        for number, results in _read(answer).items():
            found[number] = list(map(load, results))
        return [
            result
            for number, part in enumerate(parts)
            for result in (found[number] if number in found else map(function, part))
        ]
    finally:
        os.close(numbers)
        os.kill(copy, signal.SIGKILL)
        os.waitpid(copy, 0)


def _answer(
    writer: int, function: Callable[[T], bytes], parts: Sequence[Sequence[T]], numbers: int
) -> NoReturn:
    """Do the work of the copy. It ends without cleaning up, because files and exits are not its own."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # without a traceback
        found = {number: list(map(function, parts[number])) for number in _next(numbers)}
        with open(writer, "wb") as file:
            file.write(msgspec.msgpack.encode(found))
    finally:
        os._exit(0)


def _next(numbers: int) -> Iterator[int]:
    """The numbers of the parts that this process takes. Each read takes one for good."""
    while number := os.read(numbers, 1):
        yield number[0]


def _read(answer: int) -> dict[int, list[bytes]]:
    """What the copy returned by part; nothing if it did not finish."""
    with open(answer, "rb") as file, suppress(msgspec.DecodeError):
        return msgspec.msgpack.decode(file.read(), type=dict[int, list[bytes]])
    return {}
