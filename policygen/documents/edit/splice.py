"""Changes of a text: joined, checked for overlap, applied; also of a text inside a literal block."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import Struct, field

from policygen.documents.edit.apply import EditError
from policygen.documents.positions import (
    LINE_END,
    Inset,
    Positions,
    line_break,
    line_start,
    line_starts,
)


class Splice(NamedTuple):
    """text[start:end] is replaced by other text, whose lines end with a line feed."""

    start: int
    end: int
    text: str


class Taken(Struct, eq=False):
    """Changes of one text that do not overlap; equal changes are kept once."""

    _parts: list[Splice] = field(default_factory=list)

    def take(self, parts: Sequence[Splice]) -> bool:
        """Add changes; returns False, without adding, if one overlaps another change."""
        if not all(map(self._fits, parts)):
            return False
        for part in parts:
            if part not in self._parts[(at := bisect_left(self._parts, part)) : at + 1]:
                self._parts.insert(at, part)
        return True

    def _fits(self, part: Splice) -> bool:
        at = bisect_left(self._parts, part)
        near = self._parts[max(at - 1, 0) : at + 1]
        return part in near or all(max(part.start, it.start) > min(part.end, it.end) for it in near)


def spliced(text: str, parts: Iterable[Splice]) -> str:
    """The text with these parts replaced; they must not overlap. Its kind of line break stays."""
    ending = line_break(text)
    pieces, at = [], 0
    for start, end, new in sorted(set(parts)):
        pieces += [text[at:start], new.replace("\n", ending)]
        at = end
    return "".join((*pieces, text[at:]))


def joined(parts: Sequence[Splice]) -> list[Splice]:
    """The changes of one fix in the order of the text; insertions at one place are joined.

    Raises EditError if two changes overlap.
    """
    made: list[Splice] = []
    for part in sorted(dict.fromkeys(parts), key=lambda it: (it.start, it.end)):
        before = made[-1] if made else None
        if before and before.start == part.start == before.end == part.end:
            made[-1] = Splice(part.start, part.end, before.text + part.text)
        elif before and part.start < before.end:
            raise EditError("two changes of this fix overlap")
        else:
            made.append(part)
    return made


def outer(positions: Positions, part: Splice) -> Splice:
    """Convert a change of a text inside a literal block to a change of the text around it.

    Raises EditError if the text has another form than a literal block.
    """
    if not isinstance(positions, Inset):
        return part
    inner, host = positions.text, positions.host.text
    starts = line_starts(inner)

    def place(index: int) -> tuple[int, int, int]:
        """The place of a character in the outer text, the start of that line, and its indentation."""
        number = bisect_right(starts, index) - 1
        above = number - 1 if number and starts[number] == len(inner) else number
        origin = positions.origins[above] if above < len(positions.origins) else None
        if origin is None:
            raise EditError(
                "the field is inside a text; lint --fix changes only texts in a block with |"
            )
        begin = line_start(host, origin)
        indent = origin - begin
        if above != number:
            found = LINE_END.search(host, origin)
            begin = found.end() if found else len(host)
            return begin, begin, indent
        return origin + index - starts[number], begin, indent

    start, start_line, indent = place(part.start)
    end, end_line, _ = place(part.end)
    if part.start in starts and part.end in starts and (part.end > part.start or "\n" in part.text):
        start, end = start_line, end_line
        *lines, last = part.text.split("\n")
        return Splice(start, end, "".join(f"{' ' * indent}{line}\n" for line in lines) + last)
    return Splice(start, end, part.text.replace("\n", "\n" + " " * indent))
