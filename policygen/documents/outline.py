"""The place of every node of a YAML document, compact enough to keep for all documents."""

import re
from array import array
from enum import IntEnum
from typing import Final

from msgspec import Struct, field

from policygen.core.finding import Path

BLANKS: Final = " \t\r\n"
"""Blanks in YAML; U+00A0 and similar characters are text."""

_PROPERTIES = re.compile(r"(?:[&!][^ \t\r\n]*(?:[ \t\r\n]+|$))+")


class NodeKind(IntEnum):
    """The kind of a node."""

    SCALAR = 0
    MAPPING = 1
    SEQUENCE = 2
    ALIAS = 3


class OutlineStep(Struct, frozen=True):
    """A node that a path leads to, and its key if it is the value of one."""

    node: int
    key: int | None = None


class Outline(Struct, eq=False):
    """The nodes of a document in the order of its text, a parent before its children.

    Node n is text[start[n]:end[n]], including its anchor and tag; after[n] is the first node after it
    that is not inside it. A Builder fills the lists.
    """

    start: "array[int]" = field(default_factory=lambda: array("q"))
    end: "array[int]" = field(default_factory=lambda: array("q"))
    after: "array[int]" = field(default_factory=lambda: array("q"))
    shape: bytearray = field(default_factory=bytearray)
    key: dict[int, str] = field(default_factory=dict)
    """The texts of valid keys: strings, and only the first of duplicates."""
    target: dict[int, int] = field(default_factory=dict)
    """The node that an alias refers to."""
    merge: dict[int, list[int]] = field(default_factory=dict)
    """The values of the merge keys of a mapping."""
    _steps: dict[int, dict[str | int, OutlineStep]] = field(default_factory=dict)
    _heights: dict[int, int] = field(default_factory=dict)

    def height(self, node: int) -> int:
        """The number of nodes on the longest path below a complete node, including aliases."""
        known = self._heights.get(node)
        if known is not None:
            return known
        height, ends = 0, [self.after[node]]
        for below in range(node, self.after[node]):
            while below >= ends[-1]:
                ends.pop()
            target = self.target.get(below)
            height = max(height, len(ends) + (self.height(target) - 1 if target is not None else 0))
            if self.shape[below] in {NodeKind.MAPPING, NodeKind.SEQUENCE}:
                ends.append(self.after[below])
        self._heights[node] = height
        return height

    def span(self, node: int, text: str) -> tuple[int, int]:
        """Where a node's own text is, without its anchor and tag."""
        start, end = self.start[node], self.end[node]
        if text[start : start + 1] in {"&", "!"}:
            match = _PROPERTIES.match(text, start, end)
            start = match.end() if match else start
        return start, end

    def find(self, path: Path) -> tuple[OutlineStep, int]:
        """The step at the end of the longest part of a path that exists, and that part's length."""
        step = OutlineStep(0)
        for length, name in enumerate(path):
            following = self._find(step.node, name)
            if following is None:
                return step, length
            step = following
        return step, len(path)

    def steps(self, node: int) -> dict[str | int, OutlineStep]:
        """The children of a mapping by key, or of a sequence by index."""
        known = self._steps.get(node)
        if known is None:
            known = self._steps[node] = dict(self._children(node))
        return known

    def below(self, node: int) -> list[int]:
        """The nodes directly inside a collection; in a mapping, each key and value, including merges."""
        found, child = [], node + 1
        while child < self.after[node]:
            found.append(child)
            child = self.after[child]
        return found

    def _children(self, node: int) -> list[tuple[str | int, OutlineStep]]:
        children: list[tuple[str | int, OutlineStep]] = []
        child, end = node + 1, self.after[node]
        if self.shape[node] == NodeKind.SEQUENCE:
            while child < end:
                children.append((len(children), OutlineStep(child)))
                child = self.after[child]
        elif self.shape[node] == NodeKind.MAPPING:
            while child < end:
                value = self.after[child]
                if child in self.key:
                    children.append((self.key[child], OutlineStep(value, child)))
                child = self.after[value]
        return children

    def _find(self, node: int, name: str | int) -> OutlineStep | None:
        node = self.target.get(node, node)
        found = self.steps(node).get(name)
        if found is not None or node not in self.merge:
            return found
        for value in self.merge[node]:
            merged = self.target.get(value, value)
            inside = [merged]
            if self.shape[merged] == NodeKind.SEQUENCE:
                inside = [step.node for step in self.steps(merged).values()]
            for mapping in inside:
                found = self._find(mapping, name)
                if found is not None:
                    return found
        return None
