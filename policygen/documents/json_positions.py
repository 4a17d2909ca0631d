"""Finds the places of nodes in a JSON text, for one path at a time."""

import re

import msgspec
from msgspec import field

from policygen.documents.outline import BLANKS, NodeKind, Outline, OutlineStep

_KEY = re.compile(rf'[,{BLANKS}]*("(?:[^"\\]|\\.)*")[:{BLANKS}]*')
_ITEM = re.compile(rf"[,{BLANKS}]*")
_SHAPES = {"{": NodeKind.MAPPING, "[": NodeKind.SEQUENCE}
_entries = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_items = msgspec.json.Decoder(list[msgspec.Raw]).decode


_Spans = dict[str | int, tuple[tuple[int, int] | None, tuple[int, int]]]
"""Where each entry of a collection is: its key, if it has one, and its value."""


class JsonPlaces(Outline):
    """The outline of a text that is certainly valid JSON: no duplicate key, no half character.

    Nodes are numbered in the order in which they are asked for. The place of one node in a large text
    costs only its siblings and those of its parents; compiled code skips everything else.
    """

    text: str = ""
    _spans: dict[int, _Spans] = field(default_factory=dict)
    _asked: dict[tuple[int, str | int], OutlineStep] = field(default_factory=dict)

    def below(self, node: int) -> list[int]:
        """The nodes directly inside a collection; in a mapping, each key and its value."""
        steps = self.steps(node).values()
        return [node for step in steps for node in (step.key, step.node) if node is not None]

    def _children(self, node: int) -> list[tuple[str | int, OutlineStep]]:
        return [(name, step) for name in self._inside(node) if (step := self._find(node, name))]

    def _find(self, node: int, name: str | int) -> OutlineStep | None:
        step = self._asked.get((node, name))
        if step is None and (spans := self._inside(node).get(name)):
            key, value = spans
            number = self.add(*key) if key else None
            step = self._asked[node, name] = OutlineStep(self.add(*value), number)
        return step

    def _inside(self, node: int) -> _Spans:
        known = self._spans.get(node)
        if known is None:
            known = self._spans[node] = self._searched(node)
        return known

    def _searched(self, node: int) -> _Spans:
        shape, text, at = self.shape[node], self.text, self.start[node] + 1
        if shape == NodeKind.SCALAR:
            return {}
        spans: _Spans = {}
        written = text[at - 1 : self.end[node]]
        is_ascii, keyed = written.isascii(), shape == NodeKind.MAPPING
        before = _KEY if keyed else _ITEM
        for name, raw in _entries(written).items() if keyed else enumerate(_items(written)):
            match = before.match(text, at)
            begin = match.end() if match else at
            at = begin + (len(raw) if is_ascii else len(str(raw, "utf-8")))
            spans[name] = match.span(1) if match and keyed else None, (begin, at)
        return spans

    def add(self, start: int, end: int) -> int:
        """Add the value or key text[start:end]; returns its node."""
        self.start.append(start)
        self.end.append(end)
        self.shape.append(_SHAPES.get(self.text[start], NodeKind.SCALAR))
        return len(self.shape) - 1


def places(text: str) -> JsonPlaces:
    """The places in a JSON text."""
    made = JsonPlaces(text=text)
    made.add(len(text) - len(text.lstrip(BLANKS)), len(text.rstrip(BLANKS)))
    return made
