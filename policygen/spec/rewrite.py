"""Symbolic edits as changes of a document's text: all that they do not name stays as it is.

What has no certain place in the text is refused: a node that other places share through an
alias, scalars of several lines, keys that are merged in, texts inside quotes or folded blocks.
"""

import json
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct, field

from policygen.edits import EditError
from policygen.finding import At, Edit, Path, Verb
from policygen.spec import kubectl
from policygen.spec.comments import comments
from policygen.spec.compose import looks_like_json
from policygen.spec.document import Document
from policygen.spec.outline import Outline, Shape
from policygen.spec.position import Inset, Positions

Scalar = str | int | float | bool

_INDENT = "  "
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./-]*")
_BREAK = re.compile(r"\r\n|\n|\r")
_COLON = re.compile(r"[ \t]*:(?=[ \t\r\n]|\Z)")
_FLOW_COLON = re.compile(r"[ \t\r\n]*:")
_DASH = re.compile(r"[ \t]*-[ \t]+")
_REST = re.compile(r"[ \t]*(?:#[^\r\n]*)?")


class Splice(NamedTuple):
    """text[start:end] gives way to other text, whose lines end with a line feed."""

    start: int
    end: int
    text: str


Rewritten = Sequence[Splice] | EditError
"""What becomes of a fix: its changes of the text, or why it cannot be made."""


def splices(document: Document, fixes: Sequence[Sequence[Edit]]) -> list[Rewritten]:
    """What each fix changes of the text of the file that a document is in.

    A node that is shared through aliases is changed only where the fixes ask the same of all
    its uses. Fixes may overlap; two that ask the same give the same splices.
    """
    text = _Text(document)
    made: list[Rewritten] = []
    touched: list[set[tuple[int, Path, Edit]]] = []
    for edits in fixes:
        try:
            each = [_Step(text, edit) for edit in edits]
            parts = [splice for step in each for splice in step.splices()]
            made.append([_outer(document.positions, part) for part in _joined(parts)])
            touched.append({(it.touched, it.edit.at.path, it.asked) for it in each})
        except EditError as error:
            made.append(error)
            touched.append(set())
    shared = EditError("it is shared through an alias, and not all who use it want this")
    while True:  # a fix that is refused may have been the partner of another
        asking = {it for each in touched for it in each if it[0] in text.shared}
        uses = Counter((node, edit) for node, _, edit in asking)
        refused = [
            number
            for number, each in enumerate(touched)
            if any(uses[node, edit] != text.shared.get(node, 0) for node, _, edit in each & asking)
        ]
        if not refused:
            return made
        for number in refused:
            made[number], touched[number] = shared, set()


class Taken(Struct, eq=False):
    """Changes of one text that do not touch each other; those that are the same are one."""

    _parts: list[Splice] = field(default_factory=list)

    def take(self, parts: Sequence[Splice]) -> bool:
        """Add changes, if none of them touches an other one; else False."""
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
    """The text with its parts replaced, which must not overlap; its kind of line break stays."""
    found = _BREAK.search(text)
    line_break = found[0] if found else "\n"
    pieces, at = [], 0
    for start, end, new in sorted(set(parts)):
        pieces += [text[at:start], new.replace("\n", line_break)]
        at = end
    return "".join((*pieces, text[at:]))


class _Text(Struct, eq=False):
    """The text of a document, and what is known of its nodes."""

    document: Document
    shared: dict[int, int] = field(default_factory=dict)
    """How many places of the data a node stands for, if not for one; 0: nobody can say."""
    json: bool = False
    text: str = ""

    def __post_init__(self) -> None:
        self.text = self.document.positions.text
        name = self.document.source.name.lower()
        inside = isinstance(self.document.positions, Inset)
        self.json = looks_like_json(self.text) or (name.endswith(".json") and not inside)
        if self.outline.target:
            self.shared = _shared(self.outline)

    @property
    def outline(self) -> Outline:
        return self.document.outline

    def line_start(self, index: int) -> int:
        return max(self.text.rfind("\n", 0, index), self.text.rfind("\r", 0, index)) + 1

    def line_end(self, index: int) -> int:
        found = _BREAK.search(self.text, index)
        return found.start() if found else len(self.text)

    def next_line(self, index: int) -> int:
        found = _BREAK.search(self.text, index)
        return found.end() if found else len(self.text)

    def char(self, node: int) -> str:
        """The first character of a node behind its anchor."""
        start, _ = self.outline.span(node, self.text)
        return self.text[start : start + 1]

    def is_flow(self, node: int) -> bool:
        """Whether a collection is written in brackets."""
        return self.outline.shape[node] in _COLLECTIONS and self.char(node) in {"{", "["}

    def pairs(self, mapping: int) -> list[tuple[int, int]]:
        """All keys and values of a mapping, merges too."""
        below = self.outline.below(mapping)
        return list(zip(below[::2], below[1::2], strict=True))

    def end(self, node: int, key: int | None = None) -> int:
        """Where the last character of a node is behind us; a block ends with its last scalar."""
        while self.outline.shape[node] in _COLLECTIONS and not self.is_flow(node):
            inside = self.outline.below(node)
            if not inside:
                break
            key = inside[-2] if self.outline.shape[node] == Shape.MAPPING else None
            node = inside[-1]
        start, end = self.outline.start[node], self.outline.end[node]
        if start == end and key is not None:  # nothing is written behind the colon
            colon = _FLOW_COLON.match(self.text, self.outline.end[key])
            return colon.end() if colon else self.outline.end[key]
        return start + len(self.text[start:end].rstrip(" \t\r\n"))

    def scalar(self, value: Scalar) -> str:
        """A scalar in its plainest form."""
        if not isinstance(value, str):
            return json.dumps(value)
        if not self.json and _PLAIN.fullmatch(value) and kubectl.read(value) == value:
            return value
        return json.dumps(value, ensure_ascii=False)

    def like(self, old: str, value: Scalar) -> str:
        """A scalar with the quotes of an older one."""
        if isinstance(value, str) and old.startswith('"'):
            return json.dumps(value, ensure_ascii=False)
        if isinstance(value, str) and old.startswith("'") and value.isprintable():
            return "'{}'".format(value.replace("'", "''"))
        return self.scalar(value)


_COLLECTIONS = frozenset({Shape.MAPPING, Shape.SEQUENCE})


def _shared(outline: Outline) -> dict[int, int]:
    """For each node that does not stand for exactly one place how many it stands for; 0: merged."""
    above = [0] * len(outline.shape)
    for node, shape in enumerate(outline.shape):
        if shape in _COLLECTIONS:
            for child in outline.below(node):
                above[child] = node
    uses: dict[int, list[int]] = {}
    for alias, node in outline.target.items():
        uses.setdefault(node, []).append(alias)
    merged = {value for values in outline.merge.values() for value in values}
    known: dict[int, int] = {}

    def count(node: int) -> int:
        if node not in known:
            known[node] = 0
            here = node in merged or above[node] in merged
            counts = [0 if here else count(above[node]) if node else 1]
            counts += [count(alias) for alias in uses.get(node, ())]
            known[node] = 0 if 0 in counts else sum(counts)
        return known[node]

    return {node: count(node) for node in range(len(above)) if count(node) != 1}


class _Step:
    """One edit of one text."""

    def __init__(self, text: _Text, edit: Edit) -> None:
        self.it = text
        self.edit = edit
        self.text = text.text
        self.mapping = 0
        self.key: int | None = None
        self.above: int | None = None
        """The key of the mapping."""
        self.node = 0
        self.flow = False
        """Whether the node stands in brackets."""
        self.rest: Path = ()
        """The part of an ADD's path that is not there yet."""
        self._walk()

    def _walk(self) -> None:
        outline, path = self.it.outline, self.edit.at.path
        for number, name in enumerate(path):
            node = outline.target.get(self.node, self.node)
            self.flow = self.flow or self.it.is_flow(node)
            step = outline.steps(node).get(name)
            if step is None:
                if self.edit.verb is Verb.ADD and outline.shape[node] == Shape.MAPPING:
                    self.node, self.rest = node, path[number:]
                    return
                raise EditError("its place in the text is not certain, as with what is merged in")
            self.above, self.mapping, self.key, self.node = self.key, node, step.key, step.node
        if self.edit.verb in {Verb.REWRITE, Verb.QUOTE}:
            self.node = outline.target.get(self.node, self.node)
        if self.edit.verb is Verb.ADD:
            raise EditError("it is there already")

    @property
    def touched(self) -> int:
        """The node whose text changes."""
        by_key = self.edit.verb in {Verb.RENAME, Verb.NEST}
        return self.key if self.key is not None and by_key else self.node

    @property
    def asked(self) -> Edit:
        """The edit without its path, to tell whether two ask the same of one node."""
        return self.edit._replace(at=At(0, self.rest))

    def splices(self) -> Iterator[Splice]:
        """The changes of the document's own text."""
        match self.edit:
            case Edit(verb=Verb.REWRITE, to=to):
                start, end = self._scalar()
                yield Splice(start, end, self.it.like(self.text[start:end], to))
            case Edit(verb=Verb.QUOTE):
                start, end = self._scalar()
                yield Splice(start, end, json.dumps(self.text[start:end], ensure_ascii=False))
            case Edit(verb=Verb.RENAME, to=to):
                start, end = self._key_span()
                yield Splice(start, end, self.it.like(self.text[start:end], to))
            case Edit(verb=Verb.REMOVE):
                yield self._without_item() if self.key is None else self._without_key()
            case Edit(verb=Verb.NEST, to=to):
                yield from self._nested(f"{to}")
            case Edit(verb=Verb.ADD, to=to):
                yield self._added(to)

    def _scalar(self) -> tuple[int, int]:
        outline = self.it.outline
        start, end = outline.span(self.node, self.text)
        if outline.shape[self.node] != Shape.SCALAR or start == end:
            raise EditError("nothing, or no scalar, is written there")
        if _BREAK.search(self.text, start, end):
            raise EditError("it is written in several lines")
        return start, end

    def _key_span(self) -> tuple[int, int]:
        if self.key is None or self.it.outline.shape[self.key] != Shape.SCALAR:
            raise EditError("its key has no text of its own")
        start, end = self.it.outline.span(self.key, self.text)
        colon = _FLOW_COLON if self.flow else _COLON
        if not colon.match(self.text, end) or start != self.it.outline.start[self.key]:
            raise EditError("its key is written in an unusual way")
        return start, end

    def _without_key(self) -> Splice:
        self._key_span()
        pairs = self.it.pairs(self.mapping)
        number = next(i for i, (key, _) in enumerate(pairs) if key == self.key)
        starts = [self.it.outline.start[key] for key, _ in pairs]
        ends = [self.it.end(value, key) for key, value in pairs]
        if self.it.is_flow(self.mapping):
            return self._without(number, starts, ends, self.mapping)
        if self.flow:
            raise EditError("it stands in brackets without braces of its own")
        start, end = starts[number], ends[number]
        if len(pairs) == 1:
            return self._emptied(start, end)
        begin = self.it.line_start(start)
        if not self.text[begin:start].strip(" "):
            return self._without_lines(begin, end, self.text[begin:start])
        if number + 1 == len(pairs):
            raise EditError("it shares its line with others")
        below = starts[number + 1]  # the key after a dash: the next one takes its place
        indent = " " * (start - begin)
        kept = [f"{each}\n{indent}" for each in comments(self.text[start:below])]
        return Splice(start, below, "".join(kept))

    def _emptied(self, start: int, end: int) -> Splice:
        """Without the only entry of a mapping: beside the mapping's own key, if it has one."""
        if self.above is not None:
            colon = _COLON.match(self.text, self.it.outline.end[self.above])
            if colon and not self.text[colon.end() : start].strip(" \r\n"):
                return self._without_comments(colon.end(), end, " {}")
        return self._without_comments(start, end, "{}")

    def _without_item(self) -> Splice:
        items = self.it.outline.below(self.mapping)
        number = items.index(self.node)
        starts = [self.it.outline.start[item] for item in items]
        ends = [self.it.end(item) for item in items]
        if self.it.is_flow(self.mapping):
            return self._without(number, starts, ends, self.mapping)
        begin = self.it.line_start(starts[number])
        dash = _DASH.fullmatch(self.text, begin, starts[number])
        if not dash or len(items) == 1:
            raise EditError("it shares its line with others")
        return self._without_lines(begin, ends[number], dash[0].partition("-")[0])

    def _without(self, number: int, starts: list[int], ends: list[int], around: int) -> Splice:
        """Without one entry of several between brackets."""
        if len(starts) == 1:
            start, end = self.it.outline.span(around, self.text)
            return self._without_comments(start + 1, end - 1)
        if number + 1 < len(starts):
            return self._without_comments(starts[number], starts[number + 1])
        return self._without_comments(ends[number - 1], ends[number])

    def _without_comments(self, start: int, end: int, instead: str = "") -> Splice:
        if comments(self.text[start:end]):
            raise EditError("a comment in it would have no place any more")
        return Splice(start, end, instead)

    def _without_lines(self, begin: int, end: int, indent: str) -> Splice:
        """Without whole lines, but with their comments."""
        stop = self.it.next_line(end)
        if not _REST.fullmatch(self.text, end, self.it.line_end(end)):
            raise EditError("it shares its line with others")
        kept = [f"{indent}{each}" for each in comments(self.text[begin:stop])]
        if begin and self.it.line_end(end) == stop:  # the text ends without a line break
            above = begin - (2 if self.text.startswith("\r\n", begin - 2) else 1)
            return Splice(above, stop, "".join(f"\n{each}" for each in kept))
        return Splice(begin, stop, "".join(f"{each}\n" for each in kept))

    def _nested(self, key: str) -> Iterator[Splice]:
        node, start = self.node, self.it.outline.start[self.node]
        end = self.it.end(node, self.key)
        name = self.it.scalar(key)
        block = self.it.outline.shape[node] in _COLLECTIONS and not self.it.is_flow(node)
        if start >= end:
            raise EditError("nothing is written there")
        if not block and self.text[start] in "|>":
            raise EditError("it is written in several lines")
        if not block:
            if self.key is None and not self.flow:
                yield Splice(start, start, f"{name}: ")
            else:
                yield Splice(start, start, f"{{{name}: ")
                yield Splice(end, end, "}")
            return
        if self.key is None or self.flow or self.text[start] in "&!":
            raise EditError("it is written in an unusual way")
        key_start, key_end = self._key_span()
        first = self.it.next_line(key_end)
        if first > start:
            raise EditError("it shares its line with others")
        indent = " " * (key_start - self.it.line_start(key_start))
        line, added = first, f"{indent}{_INDENT}{name}:\n"
        while line < end:
            shift = _INDENT if self.text[line : self.it.line_end(line)].strip(" \t") else ""
            if added or shift:
                yield Splice(line, line, added + shift)
            line, added = self.it.next_line(line), ""

    def _added(self, value: Scalar) -> Splice:
        it, node = self.it, self.node
        *above, last = (it.scalar(str(step)) for step in self.rest)
        pairs = it.pairs(node)
        start = it.outline.start[pairs[0][0]] if pairs else it.outline.span(node, self.text)[0]
        begin = it.line_start(start)
        lead = self.text[begin:start]
        inline = f"{last}: {it.scalar(value)}"
        if it.is_flow(node) or not pairs:
            for name in reversed(above):
                inline = f"{name}: {{{inline}}}"
            if not pairs:
                return Splice(start + 1, start + 1, inline)
            end = it.end(pairs[-1][1], pairs[-1][0])
            blank = " " if lead.strip(" \t") else f"\n{lead}"
            return Splice(end, end, f",{blank}{inline}")
        if self.flow:
            raise EditError("it stands in brackets without braces of its own")
        indent = " " * len(lead)
        lines = [f"{indent}{_INDENT * n}{name}:\n" for n, name in enumerate(above)]
        lines.append(f"{indent}{_INDENT * len(above)}{inline}\n")
        end = it.end(pairs[-1][1], pairs[-1][0])
        stop = it.next_line(end)
        if it.line_end(end) == stop:  # the text ends without a line break
            return Splice(stop, stop, "\n" + "".join(lines).removesuffix("\n"))
        return Splice(stop, stop, "".join(lines))


def _joined(parts: Sequence[Splice]) -> list[Splice]:
    """The changes of one fix in the order of the text; those at one place become one."""
    joined: list[Splice] = []
    for part in sorted(set(parts), key=lambda it: (it.start, it.end)):
        before = joined[-1] if joined else None
        if before and before.start == part.start == before.end == part.end:
            joined[-1] = Splice(part.start, part.end, before.text + part.text)
        elif before and part.start < before.end:
            raise EditError("it changes one place twice")
        else:
            joined.append(part)
    return joined


def _outer(positions: Positions, part: Splice) -> Splice:
    """A change of a text inside a literal block as one of the text around it."""
    if not isinstance(positions, Inset):
        return part
    inner, host = positions.text, positions.host.text
    starts = [0, *(found.end() for found in _BREAK.finditer(inner))]

    def place(index: int) -> tuple[int, int, int]:
        """Where a character stands outside, where that line begins, and how far it is indented."""
        number = bisect_right(starts, index) - 1
        above = number - 1 if number and starts[number] == len(inner) else number
        origin = positions.origins[above] if above < len(positions.origins) else None
        if origin is None:
            raise EditError("it stands in a text that is no literal block (|)")
        begin = max(host.rfind("\n", 0, origin), host.rfind("\r", 0, origin)) + 1
        indent = origin - begin
        if above != number:
            found = _BREAK.search(host, origin)
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
