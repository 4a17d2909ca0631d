"""Makes changes of a document's text from symbolic edits; the rest of the text stays unchanged.

An edit without a certain place in the text is refused: a node that other places share through an
alias, scalars of several lines, keys that are merged in, texts inside quotes or folded blocks.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from policygen.core.finding import At, Edit, NewMapping, NewValue, Path, Verb, at_path
from policygen.documents.document import Document
from policygen.documents.edit.apply import EditError, nesting
from policygen.documents.edit.comments import comments
from policygen.documents.edit.layout import COLLECTIONS, FLOW_COLON, Text
from policygen.documents.edit.splice import Splice, joined, outer
from policygen.documents.outline import NodeKind
from policygen.documents.positions import LINE_END

_INDENT = "  "
_COLON = re.compile(r"[ \t]*:(?=[ \t\r\n]|\Z)")
_DASH = re.compile(r"[ \t]*-[ \t]+")
_COMMENT_LINE = re.compile(r"([ \t]*)#([ \t]*)(-(?= ))?")
"""A line with only a comment: its indentation, that inside the comment, and the dash of a list item."""
_REST = re.compile(r"[ \t]*(?:#[^\r\n]*)?")
_SHARED = (
    "a YAML alias or merge uses this value in another place too, and the fix would change both"
)


Rewritten = Sequence[Splice] | EditError
"""The changes of the text that a fix makes, or why it cannot be made."""


def splices(document: Document, fixes: Sequence[Sequence[Edit]]) -> list[Rewritten]:
    """The changes that each fix makes in the text of a document's file.

    A node that is shared through aliases is changed only if the fixes change all its uses in the
    same way. Fixes may overlap; two equal ones give the same splices.
    """
    text = Text(document)
    made: list[Rewritten] = []
    touched: list[set[tuple[int, Path, Edit]]] = []
    for edits in fixes:
        try:
            removed = {it.at.path for it in edits if it.verb is Verb.REMOVE}
            steps = [_step(text, edit, removed) for edit in edits]
            parts = [splice for step in steps for splice in step.parts]
            made.append([outer(document.positions, part) for part in joined(parts)])
            touched.append({(it.touched, it.edit.at.path, it.without_path) for it in steps})
        except EditError as error:
            made.append(error)
            touched.append(set())
    while True:  # another fix may need one that is refused, because they share a node
        sharing = {it for each in touched for it in each if it[0] in text.shared}
        uses = Counter((node, edit) for node, _, edit in sharing)
        refused = {
            number: path
            for number, edits in enumerate(touched)
            for node, path, edit in edits & sharing
            if uses[node, edit] != text.shared.get(node, 0)
        }
        if not refused:
            return made
        for number, path in refused.items():
            made[number], touched[number] = EditError(_SHARED, path), set()


def _step(text: Text, edit: Edit, removed: AbstractSet[Path]) -> "_Step":
    """The step of an edit, with its changes; its fix removes the fields `removed`."""
    try:
        step = _Step(text, edit, removed)
        step.parts = [*step.splices()]
    except EditError as error:
        raise EditError(f"{error}", edit.at.path) from None
    return step


class _Step:
    """One edit of one text."""

    def __init__(self, text: Text, edit: Edit, removed: AbstractSet[Path]) -> None:
        self.layout = text
        self.removed = removed
        self.edit = edit
        self.text = text.text
        self.mapping = 0
        self.key: int | None = None
        self.above: int | None = None
        """The key of the mapping."""
        self.node = 0
        self.flow = False
        """Whether the node is in brackets."""
        self.rest: Path = ()
        """The part of an ADD's path that does not exist yet."""
        self.parts: Sequence[Splice] = ()
        self._walk()

    def _walk(self) -> None:
        outline, path = self.layout.outline, self.edit.at.path
        for number, name in enumerate(path):
            node = outline.target.get(self.node, self.node)
            inside = self.flow if node == self.node else self.layout.is_in_flow(node)
            self.flow = inside or self.layout.is_flow(node)
            step = outline.steps(node).get(name)
            if step is None:
                merged = at_path(self.layout.document.data, path[: number + 1]) is not None
                kind = NodeKind.MAPPING if isinstance(name, str) else NodeKind.SEQUENCE
                fits = outline.shape[node] == kind
                if self.edit.verb is Verb.ADD and fits and not merged:
                    self.node, self.rest = node, path[number:]
                    return
                raise EditError(
                    "the field comes from a YAML merge, so its place in the file is not known"
                )
            self.above, self.mapping, self.key, self.node = self.key, node, step.key, step.node
        if self.edit.verb in {Verb.REWRITE, Verb.QUOTE}:
            self.node = outline.target.get(self.node, self.node)
        if self.edit.verb is Verb.ADD:
            raise EditError("the field already exists")

    @property
    def touched(self) -> int:
        """The node whose text changes."""
        by_key = self.edit.verb in {Verb.RENAME, Verb.NEST}
        return self.key if self.key is not None and by_key else self.node

    @property
    def without_path(self) -> Edit:
        """The edit without its path, to compare edits of one node."""
        return self.edit._replace(at=At(0, self.rest))

    def splices(self) -> Iterator[Splice]:
        """The changes of the document's own text."""
        match self.edit:
            case Edit(verb=Verb.REWRITE, to=to) if self._is_empty:
                yield from self._filled(to)
            case Edit(verb=Verb.REWRITE, to=to):
                start, end = self._scalar()
                yield Splice(start, end, self.layout.like(self.text[start:end], to))
            case Edit(verb=Verb.QUOTE):
                start, end = self._scalar()
                yield Splice(start, end, json.dumps(self.text[start:end], ensure_ascii=False))
            case Edit(verb=Verb.RENAME, to=to):
                start, end = self._key_span()
                yield Splice(start, end, self.layout.like(self.text[start:end], to))
            case Edit(verb=Verb.REMOVE):
                yield self._without_item() if self.key is None else self._without_key()
            case Edit(verb=Verb.NEST, to=to):
                yield from self._nested(*nesting(to))
            case Edit(verb=Verb.ADD, to=to):
                yield self._added(to)

    @property
    def _is_empty(self) -> bool:
        """Whether the value is null, or a mapping or list without entries."""
        return at_path(self.layout.document.data, self.edit.at.path) in (None, {}, [])

    def _filled(self, value: NewValue) -> Iterator[Splice]:
        """Write a value in place of an empty one; a collection as lines below its key."""
        text, layout = self.text, self.layout
        start, end = layout.outline.span(self.node, text)
        if start < end and self.flow:
            yield Splice(start, end, layout.written(value))
            return
        key_start, key_end = self._key_span()
        colon = _COLON.match(text, key_end)
        stop = layout.line_end(key_end)
        tagged = start != layout.outline.start[self.node]
        if colon is None or self.flow or tagged or (start < end and start > stop):
            raise EditError("the value is empty and not next to its key; write {} after the colon")
        begin = colon.end()
        end = end if start < end else begin
        if end > stop or not _REST.fullmatch(text, end, stop):
            raise EditError("other text is on the same line; put each field on its own line")
        _, *below = layout.lines("", value, " " * layout.column(key_start))
        yield Splice(begin, end, "" if below else f" {layout.written(value)}")
        if below:
            yield self._lines_after(end, below)

    def _lines_after(self, index: int, lines: Sequence[str]) -> Splice:
        """Insert lines below the line of a character."""
        stop = self.layout.next_line(index)
        if self.layout.line_end(index) == stop:  # the text ends without a line break
            return Splice(stop, stop, "\n" + "\n".join(lines))
        return Splice(stop, stop, "".join(f"{it}\n" for it in lines))

    def _scalar(self) -> tuple[int, int]:
        outline = self.layout.outline
        start, end = outline.span(self.node, self.text)
        if outline.shape[self.node] != NodeKind.SCALAR or start == end:
            raise EditError("the value is empty, or is not a text, number or boolean")
        if LINE_END.search(self.text, start, end):
            raise EditError(
                "the value spans several lines; lint --fix changes only values on one line"
            )
        return start, end

    def _key_span(self) -> tuple[int, int]:
        if self.key is None or self.layout.outline.shape[self.key] != NodeKind.SCALAR:
            raise EditError("the key of the field is not text")
        start, end = self.layout.outline.span(self.key, self.text)
        colon = FLOW_COLON if self.flow else _COLON
        if not colon.match(self.text, end) or start != self.layout.outline.start[self.key]:
            raise EditError("the key of the field has an anchor or a tag, or no colon on its line")
        return start, end

    def _without_key(self) -> Splice:
        self._key_span()
        pairs = self.layout.pairs(self.mapping)
        number = next(i for i, (key, _) in enumerate(pairs) if key == self.key)
        starts = [self.layout.outline.start[key] for key, _ in pairs]
        ends = [self.layout.end(value, key) for key, value in pairs]
        if self.layout.is_flow(self.mapping):
            return self._without(number, starts, ends)
        if self.flow:
            raise EditError("the field is in a list such as [key: value]; write [{key: value}]")
        start, end = starts[number], ends[number]
        if not any(self._kept(starts)):
            return self._emptied(starts[0], ends[-1])
        begin = self.layout.line_start(start)
        if not self.text[begin:start].strip(" "):
            return self._without_lines(begin, end, self.text[begin:start])
        if number + 1 == len(pairs):
            raise EditError("other fields are on the same line; put each field on its own line")
        below = starts[number + 1]  # the key after a dash: the next one takes its place
        indent = " " * (start - begin)
        kept = [f"{each}\n{indent}" for each in comments(self.text[start:below])]
        return Splice(start, below, "".join(kept))

    def _emptied(self, start: int, end: int) -> Splice:
        """Remove all entries of a mapping; `{}` is written next to the mapping's own key if it has one.

        Comments between the entries stay, above the `{}`.
        """
        kept = comments(self.text[start:end])
        if self.above is not None and not kept:
            colon = _COLON.match(self.text, self.layout.outline.end[self.above])
            if colon and not self.text[colon.end() : start].strip(" \r\n"):
                return self._without_comments(colon.end(), end, " {}")
        indent = " " * (start - self.layout.line_start(start))
        return Splice(start, end, "".join(f"{it}\n{indent}" for it in kept) + "{}")

    def _without_item(self) -> Splice:
        items = self.layout.outline.below(self.mapping)
        number = items.index(self.node)
        starts = [self.layout.outline.start[item] for item in items]
        ends = [self.layout.end(item) for item in items]
        if self.layout.is_flow(self.mapping):
            return self._without(number, starts, ends)
        begin = self.layout.line_start(starts[number])
        dash = _DASH.fullmatch(self.text, begin, starts[number])
        if not dash or len(items) == 1:
            raise EditError(
                "policygen cannot remove the only entry of a list, or an entry that "
                "shares its line with other text"
            )
        return self._without_lines(begin, ends[number], dash[0].partition("-")[0])

    def _without(self, number: int, starts: list[int], ends: list[int]) -> Splice:
        """Remove one entry between brackets; the fix may remove the entries after it too."""
        kept = self._kept(starts)
        if not any(kept):
            start, end = self.layout.outline.span(self.mapping, self.text)
            return self._without_comments(start + 1, end - 1)
        if any(kept[number + 1 :]):
            return self._without_comments(starts[number], starts[number + 1])
        return self._without_comments(ends[number - 1], ends[number])

    def _kept(self, starts: Sequence[int]) -> list[bool]:
        """Whether the fix keeps each entry of the mapping or list; `starts` are where the entries begin."""
        outline, above = self.layout.outline, self.edit.at.path[:-1]
        names = {
            outline.start[it.node if it.key is None else it.key]: name
            for name, it in outline.steps(self.mapping).items()
        }
        return [it not in names or (*above, names[it]) not in self.removed for it in starts]

    def _without_comments(self, start: int, end: int, instead: str = "") -> Splice:
        if comments(self.text[start:end]):
            raise EditError("the fix would delete a comment")
        return Splice(start, end, instead)

    def _without_lines(self, begin: int, end: int, indent: str) -> Splice:
        """Remove complete lines, but keep their comments."""
        stop = self.layout.next_line(end)
        if not _REST.fullmatch(self.text, end, self.layout.line_end(end)):
            raise EditError("other fields are on the same line; put each field on its own line")
        kept = [f"{indent}{each}" for each in comments(self.text[begin:stop])]
        if begin and self.layout.line_end(end) == stop:  # the text ends without a line break
            above = begin - (2 if self.text.startswith("\r\n", begin - 2) else 1)
            return Splice(above, stop, "".join(f"\n{each}" for each in kept))
        return Splice(begin, stop, "".join(f"{each}\n" for each in kept))

    def _nested(self, before: Sequence[tuple[str, NewValue]], key: str) -> Iterator[Splice]:
        node, start = self.node, self.layout.outline.start[self.node]
        end = self.layout.end(node, self.key)
        name = self.layout.written(key)
        block = self.layout.outline.shape[node] in COLLECTIONS and not self.layout.is_flow(node)
        if start >= end:
            raise EditError("the field has no value")
        if not block and self.text[start] in "|>":
            raise EditError(
                "the value spans several lines; lint --fix changes only values on one line"
            )
        if not block:
            above = "".join(f"{self.layout.pair(*it)}, " for it in before)
            if self.key is None and not self.flow and not before:
                yield Splice(start, start, f"{name}: ")
            else:
                yield Splice(start, start, f"{{{above}{name}: ")
                yield Splice(end, end, "}")
            return
        if self.key is None or self.flow or self.text[start] in "&!":
            raise EditError("the value has an anchor or a tag, or is a list item")
        key_start, key_end = self._key_span()
        first = self.layout.next_line(key_end)
        if first > start:
            raise EditError("other fields are on the same line; put each field on its own line")
        indent = " " * (key_start - self.layout.line_start(key_start))
        lines = [it for pair in before for it in self.layout.lines(*pair, indent + _INDENT)]
        line, added = first, "".join(f"{it}\n" for it in [*lines, f"{indent}{_INDENT}{name}:"])
        while line < end:
            shift = _INDENT if self.text[line : self.layout.line_end(line)].strip(" \t") else ""
            if added or shift:
                yield Splice(line, line, added + shift)
            line, added = self.layout.next_line(line), ""

    def _added(self, value: NewValue) -> Splice:
        layout, node = self.layout, self.node
        name, *below = self.rest
        for step in reversed(below):
            value = NewMapping(((str(step), value),))
        inline = layout.written(value)
        if isinstance(name, str):
            inline = layout.pair(name, value)
        entries = self._entries(node)
        if not entries:
            start, _ = layout.outline.span(node, self.text)
            return Splice(start + 1, start + 1, inline)
        start, end = entries[0][0], entries[-1][1]
        lead = self.text[layout.line_start(start) : start]
        if layout.is_flow(node):
            blank = " " if lead.strip(" \t") else f"\n{lead}"
            return Splice(end, end, f",{blank}{inline}")
        if self.flow:
            raise EditError("the field is in a list such as [key: value]; write [{key: value}]")
        if isinstance(name, str):
            added = [*layout.lines(name, value, " " * len(lead))]
            return self._lines_after(self._last_comment(end, len(lead)), added)
        column = layout.column(layout.outline.span(node, self.text)[0])
        added = [*layout.items([value], " " * column)]
        return self._lines_after(self._last_comment(end, column), added)

    def _last_comment(self, end: int, column: int) -> int:
        """The end of the last comment below a block that belongs to its last entry; `end` without one.

        Such a comment, or the field that is commented out, is indented deeper than the column of
        the block, or is an item of a list in this column.
        """
        text, at = self.text, end
        while (line := self.layout.next_line(at)) < len(text):
            at = self.layout.line_end(line)
            if not text[line:at].strip(" \t"):
                continue
            found = _COMMENT_LINE.match(text, line, at)
            if found is None:
                break
            depth = len(found[1]) + max(0, len(found[2]) - 1)
            if depth < column or (depth == column and not found[3]):
                break
            end = at
        return end

    def _entries(self, node: int) -> list[tuple[int, int]]:
        """Where the entries of a mapping or list begin and end."""
        layout = self.layout
        if layout.outline.shape[node] == NodeKind.MAPPING:
            return [
                (layout.outline.start[key], layout.end(value, key))
                for key, value in layout.pairs(node)
            ]
        return [(layout.outline.start[it], layout.end(it)) for it in layout.outline.below(node)]
