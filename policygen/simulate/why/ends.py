"""The fewest workloads whose end lets another one start."""

from bisect import bisect_left
from collections.abc import Callable, Sequence

_PARTS = 12
"""The most parts into which the names are divided, to try whether each of them matters."""


def fewest(names: Sequence[str], helps: Callable[[Sequence[str]], bool]) -> tuple[str, ...]:
    """The shortest beginning of these names whose end helps, without those that do not matter; empty: none helps.

    Others can take what a further end frees, so the number of names doubles until it helps. Between the last
    two numbers, it is found by halves. Then names that do not matter are dropped: many names in halves,
    then in ever smaller parts, while at most `_PARTS` parts are left.
    """
    found = _beginning(names, helps)
    size = len(found) // 2 if len(found) > _PARTS else 1
    while size and 1 < len(found) <= _PARTS * size:
        for start in range((len(found) - 1) // size * size, -1, -size):
            others = found[:start] + found[start + size :]
            if others and helps(others):
                found = others
        size //= 2
    return found


def _beginning(names: Sequence[str], helps: Callable[[Sequence[str]], bool]) -> tuple[str, ...]:
    known, count = 0, 1
    while known < len(names):
        count = min(count, len(names))
        if helps(names[:count]):
            between = range(known + 1, count)
            return tuple(
                names[: known + 1 + bisect_left(between, 1, key=lambda it: helps(names[:it]))]
            )
        known, count = count, 2 * count
    return ()
