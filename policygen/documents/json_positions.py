"""Finds the places of nodes in a JSON text, for one path at a time."""

import re

import msgspec

from policygen.documents.outline import BLANKS, NodeKind, Outline, OutlineStep

_KEY = re.compile(rf'[,{BLANKS}]*("(?:[^"\\]|\\.)*")[:{BLANKS}]*')
_ITEM = re.compile(rf"[,{BLANKS}]*")
_SHAPES = {"{": NodeKind.MAPPING, "[": NodeKind.SEQUENCE}
_entries = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_items = msgspec.json.Decoder(list[msgspec.Raw]).decode


class JsonPlaces(Outline):
    """The outline of a text that is certainly valid JSON: no duplicate key, no half character.

    Nodes are numbered in the order in which they are found. The place of one node in a large text
    costs only its siblings and those of its parents; compiled code skips everything else.
    """

    text: str = ""

    def below(self, node: int) -> list[int]:
        """The nodes directly inside a collection; in a mapping, each key and its value."""
        steps = self.steps(node).values()
        return [node for step in steps for node in (step.key, step.node) if node is not None]

    def _children(self, node: int) -> list[tuple[str | int, OutlineStep]]:
        shape, text = self.shape[node], self.text
        if shape == NodeKind.SCALAR:
            return []
        children: list[tuple[str | int, OutlineStep]] = []
        at = self.start[node] + 1
        written = text[at - 1 : self.end[node]]
        keyed = shape == NodeKind.MAPPING
        found = _entries(written).items() if keyed else enumerate(_items(written))
        before = _KEY if keyed else _ITEM
        for name, raw in found:
            match = before.match(text, at)
            key = self.add(*match.span(1)) if match and keyed else None
            begin = match.end() if match else at
            at = begin + (len(raw) if written.isascii() else len(str(raw, "utf-8")))
            children.append((name, OutlineStep(self.add(begin, at), key)))
        return children

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
