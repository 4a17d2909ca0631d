"""Removes the characters that YAML does not allow from a text, and restores the original places."""

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from policygen.documents.outline import NodeKind, Outline
from policygen.documents.parsed import Composed, TextHit

_BLANK = re.compile(r"[ \t]*")


class Without:
    """A text without forbidden characters, and the original places of its parts.

    A forbidden character is one error; other findings are about the remaining text.
    """

    def __init__(self, text: str, removed: Sequence[int]) -> None:
        self.whole = text
        self.removed = removed
        """Indices of the removed characters, ascending."""
        self.gaps = [index - count for count, index in enumerate(removed)]
        begins = [0, *(index + 1 for index in removed)]
        self.text = "".join(
            text[begin:end] for begin, end in zip(begins, [*removed, len(text)], strict=True)
        )

    def at(self, index: int) -> int:
        """The original place of a character."""
        return index + bisect_right(self.gaps, index)

    def put_back(self, composed: Composed) -> Composed:
        """A document of the remaining text, with the original places of its parts.

        A node includes the characters that were removed at its ends. Every scalar from which, or
        directly after which, a character was removed counts as flawed.
        """
        outline = composed.outline
        outline.start = array("q", (at + bisect_left(self.gaps, at) for at in outline.start))
        outline.end = array("q", map(self.at, outline.end))
        composed.flawed.update(self._touched(outline))
        composed.syntax = [self._moved(problem) for problem in composed.syntax]
        composed.content = [self._moved(problem) for problem in composed.content]
        return composed

    def _moved(self, problem: TextHit) -> TextHit:
        start = self.at(problem.start)
        end = problem.end + bisect_left(self.gaps, problem.end)
        return TextHit(problem.rule, problem.message, start, max(start, end))

    def _touched(self, outline: Outline) -> set[int]:
        if not outline.shape:
            return set()
        first = bisect_left(self.removed, outline.start[0])
        last = bisect_right(self.removed, max(outline.end))
        touched = set()
        for index in self.removed[first:last]:
            node = bisect_right(outline.start, index) - 1
            blank = _BLANK.match(self.whole, min(outline.end[node], index), index)
            if outline.shape[node] == NodeKind.SCALAR and blank and blank.end() == index:
                touched.add(node)
        return touched
