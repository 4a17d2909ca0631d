"""The fewest workloads whose end lets another one start."""

from bisect import bisect_left
from collections.abc import Callable, Sequence

_EACH = 12
"""The most workloads of which each is tried: whether it also helps without its end."""


def fewest(names: Sequence[str], helps: Callable[[Sequence[str]], bool]) -> tuple[str, ...]:
    """The shortest beginning of these names whose end helps, without those that do not matter; empty: none helps.

    Others can take what a further end frees, so the number of names doubles until it helps. Between the last
    two numbers, it is found by halves.
    """
    found = _beginning(names, helps)
    for name in found if 1 < len(found) <= _EACH else ():
        others = tuple(it for it in found if it != name)
        if others and helps(others):
            found = others
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
