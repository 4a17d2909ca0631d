"""The text of a document, and how its nodes are written in it."""

import json
import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from msgspec import Struct, field

from policygen.core.finding import NewMapping, NewValue
from policygen.documents import kubectl_scalars
from policygen.documents.document import Document
from policygen.documents.outline import NodeKind, Outline
from policygen.documents.positions import LINE_END, Inset, line_start

COLLECTIONS = frozenset({NodeKind.MAPPING, NodeKind.SEQUENCE})
FLOW_COLON = re.compile(r"[ \t\r\n]*:")
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./-]*")
_JSON = re.compile(r'[ \t\r\n]*[\[{][ \t\r\n\[{]*["\]}]')
"""The beginning of JSON: the first key is in quotes. A flow mapping of YAML can also begin with a brace."""
_STEP = "  "
"""The indentation if the text does not show another one."""


class Text(Struct, eq=False, dict=True):
    """The text of a document, and facts about its nodes."""

    document: Document
    shared: dict[int, int] = field(default_factory=dict)
    """The number of uses of a node in the data, if it is not 1; 0: unknown."""
    json: bool = False
    text: str = ""

    def __post_init__(self) -> None:
        self.text = self.document.positions.text
        name = self.document.source.name.lower()
        inside = isinstance(self.document.positions, Inset)
        self.json = bool(_JSON.match(self.text)) or (name.endswith(".json") and not inside)
        if self.outline.target:
            self.shared = _shared(self.outline)

    @property
    def outline(self) -> Outline:
        """The places of its nodes."""
        return self.document.outline

    def line_start(self, index: int) -> int:
        """Where the line of a character begins."""
        return line_start(self.text, index)

    def line_end(self, index: int) -> int:
        """Where the line ends, before its line break."""
        found = LINE_END.search(self.text, index)
        return found.start() if found else len(self.text)

    def next_line(self, index: int) -> int:
        """Where the next line begins; the end of the text after the last line."""
        found = LINE_END.search(self.text, index)
        return found.end() if found else len(self.text)

    def char(self, node: int) -> str:
        """The first character of a node, after its anchor."""
        start, _ = self.outline.span(node, self.text)
        return self.text[start : start + 1]

    def is_flow(self, node: int) -> bool:
        """Whether a collection is written in brackets."""
        return self.outline.shape[node] in COLLECTIONS and self.char(node) in {"{", "["}

    def is_in_flow(self, node: int) -> bool:
        """Whether a node is inside a collection in brackets."""
        return any(node < self.outline.after[it] and self.is_flow(it) for it in range(node))

    def pairs(self, mapping: int) -> list[tuple[int, int]]:
        """All keys and values of a mapping, including merges."""
        below = self.outline.below(mapping)
        return list(zip(below[::2], below[1::2], strict=True))

    def end(self, node: int, key: int | None = None) -> int:
        """The end of a node's last character; a block ends with its last scalar."""
        while self.outline.shape[node] in COLLECTIONS and not self.is_flow(node):
            inside = self.outline.below(node)
            if not inside:
                break
            key = inside[-2] if self.outline.shape[node] == NodeKind.MAPPING else None
            node = inside[-1]
        start, end = self.outline.start[node], self.outline.end[node]
        if start == end and key is not None:  # nothing is written after the colon
            colon = FLOW_COLON.match(self.text, self.outline.end[key])
            return colon.end() if colon else self.outline.end[key]
        return start + len(self.text[start:end].rstrip(" \t\r\n"))

    def written(self, value: NewValue) -> str:
        """A value in its plainest form; a list or mapping on one line."""
        if isinstance(value, tuple):
            return f"[{', '.join(map(self.written, value))}]"
        if isinstance(value, NewMapping):
            return f"{{{', '.join(self.pair(*it) for it in value.entries)}}}"
        if not isinstance(value, str):
            return json.dumps(value)
        if not self.json and _PLAIN.fullmatch(value) and kubectl_scalars.read(value) == value:
            return value
        return json.dumps(value, ensure_ascii=False)

    def pair(self, key: str, value: NewValue) -> str:
        """A key with its value on one line."""
        return f"{self.written(key)}: {self.written(value)}"

    def lines(self, key: str, value: NewValue, indent: str) -> Iterator[str]:
        """A key with its value as lines; collections are blocks, but a list of scalars is one line."""
        if isinstance(value, NewMapping) and value.entries:
            yield f"{indent}{self.written(key)}:"
            for it in value.entries:
                yield from self.lines(*it, indent + self._steps[0])
        elif isinstance(value, tuple) and any(isinstance(it, NewMapping) for it in value):
            yield f"{indent}{self.written(key)}:"
            yield from self.items(value, indent + self._steps[1])
        else:
            yield f"{indent}{self.pair(key, value)}"

    def items(self, values: Sequence[NewValue], indent: str) -> Iterator[str]:
        """The entries of a list as lines."""
        for value in values:
            if isinstance(value, NewMapping) and value.entries:
                for number, (key, it) in enumerate(value.entries):
                    first, *others = self.lines(key, it, f"{indent}  ")
                    yield first if number else f"{indent}- {first.lstrip()}"
                    yield from others
            else:
                yield f"{indent}- {self.written(value)}"

    @cached_property
    def _steps(self) -> tuple[str, str]:
        """The indentation of the first block mapping below a key, and of the first block list."""
        found: dict[int, str] = {}
        for mapping, shape in enumerate(self.outline.shape):
            if shape != NodeKind.MAPPING or self.is_flow(mapping):
                continue
            for key, value in self.pairs(mapping):
                kind = self.outline.shape[value]
                if kind not in COLLECTIONS or kind in found or self.is_flow(value):
                    continue
                start, _ = self.outline.span(value, self.text)
                step = self.column(start) - self.column(self.outline.start[key])
                if step >= (kind == NodeKind.MAPPING):
                    found[kind] = " " * step
        return found.get(NodeKind.MAPPING, _STEP), found.get(NodeKind.SEQUENCE, _STEP)

    def column(self, index: int) -> int:
        """The number of characters before a character in its line."""
        return index - self.line_start(index)

    def like(self, old: str, value: NewValue) -> str:
        """A scalar with the quotes of an older one."""
        if isinstance(value, str) and old.startswith('"'):
            return json.dumps(value, ensure_ascii=False)
        if isinstance(value, str) and old.startswith("'") and value.isprintable():
            return "'{}'".format(value.replace("'", "''"))
        return self.written(value)


def _shared(outline: Outline) -> dict[int, int]:
    """The number of uses of each node that is not used exactly once; 0: merged."""
    above = [0] * len(outline.shape)
    for node, shape in enumerate(outline.shape):
        if shape in COLLECTIONS:
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
