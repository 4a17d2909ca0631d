"""Ties: where Kueue's order is left to chance, because Go iterates over a map in any order."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

Option = TypeVar("Option")


class CycleTies:
    """The ties of one attempt at a cycle, and which option each takes.

    `script` has the index of the option for the first ties; all later ties take their first option.
    """

    __slots__ = ("_script", "widths")

    def __init__(self, script: Sequence[int] = ()) -> None:
        self._script = tuple(script)
        self.widths: list[int] = []
        """How many options each tie had, in the order of the ties."""

    def pick(self, options: Sequence[Option]) -> Option:
        """One of several options between which Kueue has no order."""
        if len(options) == 1:
            return options[0]
        at = len(self.widths)
        self.widths.append(len(options))
        return options[self._script[at] if at < len(self._script) else 0]

    def following(self) -> tuple[int, ...] | None:
        """The script of the next attempt."""
        return following(self._script, self.widths)

    def singles(self) -> Iterator[tuple[int, ...]]:
        """The scripts that change one of these ties, the first ties first. For an attempt without a script."""
        for i, width in enumerate(self.widths):
            for option in range(1, width):
                yield (*[0] * i, option)


def following(script: Sequence[int], widths: Sequence[int]) -> tuple[int, ...] | None:
    """The next script for ties with these numbers of options; None after the last."""
    changed = [*script, *(0 for _ in widths[len(script) :])][: len(widths)]
    while changed:
        changed[-1] += 1
        if changed[-1] < widths[len(changed) - 1]:
            return tuple(changed)
        changed.pop()
    return None
