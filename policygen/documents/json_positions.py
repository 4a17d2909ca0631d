"""Finds the places of nodes in a JSON text, for one path at a time."""

import re
from collections.abc import Callable
from json import JSONDecoder
from typing import Any

from policygen.documents.outline import BLANKS, NodeKind, Outline, OutlineStep

_BLANK = re.compile(rf"[{BLANKS}]*")
_WORD = re.compile(rf"[^,\]}}{BLANKS}]+")
_SHAPES = {"{": NodeKind.MAPPING, "[": NodeKind.SEQUENCE}
_decode: Callable[[str, int], tuple[Any, int]] = JSONDecoder(
    parse_int=str, parse_float=str
).raw_decode


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
        children: list[tuple[str | int, OutlineStep]] = []
        shape = self.shape[node]
        if shape == NodeKind.SCALAR:
            return children
        at = self._skip(self.start[node] + 1)
        while self.text[at] not in "]}":
            name: str | int = len(children)
            key = None
            if shape == NodeKind.MAPPING:
                name, end = _decode(self.text, at)
                key = self.add(at, end)
                at = self._skip(self._skip(end) + 1)  # past the colon
            end = self._end(at)
            children.append((name, OutlineStep(self.add(at, end), key)))
            at = self._skip(end)
            if self.text[at] == ",":
                at = self._skip(at + 1)
        return children

    def add(self, start: int, end: int) -> int:
        """Add the value or key text[start:end]; returns its node."""
        self.start.append(start)
        self.end.append(end)
        self.shape.append(_SHAPES.get(self.text[start], NodeKind.SCALAR))
        return len(self.shape) - 1

    def _skip(self, at: int) -> int:
        match = _BLANK.match(self.text, at)
        return match.end() if match else at

    def _end(self, at: int) -> int:
        """The end of the value that begins at this index."""
        if self.text[at] in '"{[':
            return _decode(self.text, at)[1]
        word = _WORD.match(self.text, at)
        return word.end() if word else at


def places(text: str) -> JsonPlaces:
    """The places in a JSON text."""
    made = JsonPlaces(text=text)
    made.add(len(text) - len(text.lstrip(BLANKS)), len(text.rstrip(BLANKS)))
    return made
