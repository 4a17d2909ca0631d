"""A text without the characters that YAML does not allow, read as if they had been removed."""

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from policygen.documents.outline import NodeKind, Outline
from policygen.documents.parsed import Composed, TextHit

_BLANK = re.compile(r"[ \t]*")


class Without:
    """A text without forbidden characters, and where its parts were.

    One bad character is one error: further findings are about the remaining text.
    """

    def __init__(self, text: str, removed: Sequence[int]) -> None:
        self.whole = text
        self.removed = removed
        """Indices of what was removed, ascending."""
        self.gaps = [index - count for count, index in enumerate(removed)]
        begins = [0, *(index + 1 for index in removed)]
        self.text = "".join(
            text[begin:end] for begin, end in zip(begins, [*removed, len(text)], strict=True)
        )

    def at(self, index: int) -> int:
        """The original place of a character."""
        return index + bisect_right(self.gaps, index)

    def put_back(self, it: Composed) -> Composed:
        """A document of the remaining text, with the original places of its parts.

        A node covers what was removed at its ends, too; every scalar that something was removed
        from, or right behind, counts as flawed.
        """
        outline = it.outline
        outline.start = array("q", (at + bisect_left(self.gaps, at) for at in outline.start))
        outline.end = array("q", map(self.at, outline.end))
        it.flawed.update(self._touched(outline))
        it.syntax = [self._moved(problem) for problem in it.syntax]
        it.content = [self._moved(problem) for problem in it.content]
        return it

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
            behind = _BLANK.match(self.whole, min(outline.end[node], index), index)
            if outline.shape[node] == NodeKind.SCALAR and behind and behind.end() == index:
                touched.add(node)
        return touched
