"""Finds the places of nodes in a document that `yaml_lines` has read, for one path at a time.

The place of one node costs only the lines of its siblings and those of its parents. An outline of
the complete document takes three to four times as long (those of `benchmarks/mixed_manifests.py`).
"""

import re
from collections.abc import Iterator
from functools import cache

from msgspec import field

from policygen.documents.outline import NodeKind, Outline, OutlineStep
from policygen.documents.yaml_lines import BLOCK, FLOW, FLOW_SCALAR, KEY, PLAIN, QUOTED

_NESTED = -1
"""The column of a node that is not a block collection."""

_FIRST = re.compile(r"(?:(?:---)? *(?:#.*)?\n)*( *)(- +)?(?=[^ \n#])")
"""What is before the first entry of a block collection."""
_ENTRY = re.compile(
    rf"(- +)?(?:({KEY}):(?= |$) *)?({QUOTED}|{PLAIN}|{FLOW}|{BLOCK})?", re.MULTILINE | re.ASCII
)
_KEY = re.compile(rf"({KEY}):(?= |$)", re.MULTILINE | re.ASCII)
_TOKEN = re.compile(rf"{FLOW_SCALAR}|([\[{{])|([\]}}])", re.ASCII)


class LinePlaces(Outline):
    """The outline of a document, without what is after the first line of a collection or a block scalar.

    Nodes are numbered in the order in which they are found.
    """

    text: str = ""
    columns: list[int] = field(default_factory=list)
    _entries: dict[int, dict[str | int, tuple[int, int]]] = field(default_factory=dict)
    """The lines of the entries of block collections, by node."""
    _known: dict[tuple[int, str | int], OutlineStep] = field(default_factory=dict)

    def _find(self, node: int, name: str | int) -> OutlineStep | None:
        if self.columns[node] == _NESTED:
            return super()._find(node, name)
        found = self._known.get((node, name))
        if found is None:
            lines = self._lines(node, name)
            if lines is not None:
                found = self._known[node, name] = self._step(*lines, self.columns[node])
        return found

    def _lines(self, node: int, name: str | int) -> tuple[int, int] | None:
        """The lines of an entry of a block collection."""
        text, start, end = self.text, self.start[node], self.end[node]
        if isinstance(name, str) and self.shape[node] == NodeKind.MAPPING:
            column = self.columns[node]
            line = f"{name}:"
            if not text.startswith(line, start):
                line = f"\n{' ' * column}{line}"
                start = text.find(line, start, end)
            after = start + len(line)
            if start >= 0 and text[after : after + 1] in {" ", "\n"}:
                next_ = _beginning(column, dashes=False).search(text, after, end)
                return after - len(name) - 1, next_.end() if next_ else end
        if node not in self._entries:
            self._entries[node] = self._block(node)
        return self._entries[node].get(name)

    def _children(self, node: int) -> list[tuple[str | int, OutlineStep]]:
        if self.shape[node] == NodeKind.SCALAR:
            return []
        if self.columns[node] != _NESTED:
            column = self.columns[node]
            return [(name, self._step(*it, column)) for name, it in self._block(node).items()]
        found = self._flow(node)
        if self.shape[node] == NodeKind.SEQUENCE:
            return [(i, step) for i, (_, step) in enumerate(found)]
        return list(found)

    def _block(self, node: int) -> dict[str | int, tuple[int, int]]:
        """The entries of a block collection: the lines that begin in its column, up to the next one."""
        text, end, dashes = self.text, self.end[node], self.shape[node] == NodeKind.SEQUENCE
        starts = [self.start[node]]
        begin = _beginning(self.columns[node], dashes=dashes)
        starts += (it.end() for it in begin.finditer(text, starts[0], end))
        lines = zip(starts, [*starts[1:], end], strict=True)
        if dashes:
            return dict(enumerate(lines))
        keys = ((_KEY.match(text, *each), each) for each in lines)
        return {_text(key[1]): each for key, each in keys if key}

    def _step(self, start: int, stop: int, column: int) -> OutlineStep:
        """The entry of a block collection in these lines."""
        entry = _ENTRY.match(self.text, start, stop)
        if entry is None:
            return OutlineStep(self._add(start, stop, NodeKind.SCALAR))
        dash, name, written = entry.groups()[:3]
        if dash or not name:
            width = len(dash or "")
            return OutlineStep(self._item(start + width, stop, column + width))
        key = self._add(*entry.span(2), NodeKind.SCALAR)
        value = self._written(*entry.span(3)) if written else self._below(entry.end(), stop)
        return OutlineStep(value, key)

    def _item(self, start: int, end: int, column: int) -> int:
        """The node of an entry of a list: a mapping, or what is written in its line."""
        entry = _ENTRY.match(self.text, start, end)
        if entry is None or entry[2]:
            return self._add(start, end, NodeKind.MAPPING, column)
        return self._written(*entry.span(3))

    def _written(self, start: int, end: int) -> int:
        """The node of a value in the line of its key or dash."""
        shape = _SHAPES.get(self.text[start], NodeKind.SCALAR)
        return self._add(start, start + len(self.text[start:end].rstrip(" ")), shape)

    def _below(self, start: int, end: int) -> int:
        """The node of a collection below the line of its key; an empty scalar if there is none."""
        line = self.text.find("\n", start, end) + 1
        first = _FIRST.match(self.text, line, end) if line else None
        if first is None:
            return self._add(start, start, NodeKind.SCALAR)
        return self.add_block(first, end)

    def add_block(self, first: re.Match[str], end: int) -> int:
        """Add a block collection; `first` is a match of what is before its first entry."""
        shape = NodeKind.SEQUENCE if first[2] else NodeKind.MAPPING
        return self._add(first.end(1), end, shape, len(first[1]))

    def _flow(self, node: int) -> Iterator[tuple[str, OutlineStep]]:
        """The entries of a flow collection."""
        keyed = self.shape[node] == NodeKind.MAPPING
        key, depth, begin = None, 0, 0
        for token in _TOKEN.finditer(self.text, self.start[node] + 1, self.end[node]):
            value = None
            if token[2]:
                depth += 1
                begin = token.start() if depth == 1 else begin
            elif token[3]:
                depth -= 1
                value = None if depth else self._written(begin, token.end())
                if depth < 0:
                    return  # its own end
            elif token[1] and not depth:
                value = self._written(*token.span(1))
            if value is None:
                continue
            if keyed and key is None:
                key = value
                continue
            name = "" if key is None else _text(self.text[self.start[key] : self.end[key]])
            yield name, OutlineStep(value, key)
            key = None

    def _add(self, start: int, end: int, shape: NodeKind, column: int = _NESTED) -> int:
        self.start.append(start)
        self.end.append(end)
        self.shape.append(shape)
        self.columns.append(column)
        return len(self.shape) - 1


_SHAPES = {"{": NodeKind.MAPPING, "[": NodeKind.SEQUENCE}


def _text(key: str) -> str:
    return key[1:-1] if key[0] in "\"'" else key


@cache
def _beginning(column: int, *, dashes: bool) -> re.Pattern[str]:
    """What is before an entry in a column: a line break and blanks."""
    begin = "- " if dashes else "[^ \\n#-]"
    return re.compile(rf"\n {{{column}}}(?={begin})")


def places(text: str, start: int, end: int) -> LinePlaces | None:
    """The places in the document text[start:end]; None if it has no collection."""
    first = _FIRST.match(text, start, end)
    if first is None:
        return None
    made = LinePlaces(text=text)
    made.add_block(first, end)
    return made
