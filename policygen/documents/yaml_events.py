"""Parser events of a document to plain data and its outline."""

from collections.abc import Callable
from enum import Enum
from itertools import islice
from typing import Any, Final

from msgspec import Struct

from policygen.documents import rules, surrogates
from policygen.documents.faults import Faults
from policygen.documents.kubectl_scalars import KubernetesPlains
from policygen.documents.outline import NodeKind
from policygen.documents.parsed import MAX_DEPTH, Composed
from policygen.documents.scalars import AmbiguousScalar, Plain, Plains, shorten

# Aliases may add this many copies of nodes for each node of the text, and this many in any case.
_ALIAS_FACTOR = 10
_ALIAS_NODES = 100_000

_SCALAR = int(NodeKind.SCALAR)


class TooDeepError(Exception):
    """Nesting beyond MAX_DEPTH, at a character of the text."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self.at = at


class _Mark(Enum):
    """What a mapping expects next, if not the value of a key."""

    KEY = 0
    DROPPED = 1
    MERGED = 2


_Pending = str | _Mark
_Container = dict[str, Any] | list[Any] | None


class _Frame(Struct, eq=False):
    """The state around a collection, and the data needed at its end."""

    container: _Container
    pending: _Pending
    node: int
    anchor: str | None
    copied: int


class _Anchor(Struct, eq=False):
    node: int
    value: Any = None
    size: int = 0
    """Number of nodes, including copies by aliases; 0 while the node is not complete."""


class Builder:
    """Turns the events of one document after the other into data, without recursion.

    `line` gives the line of a character of `text` for messages; `escapes` is whether surrogates
    are escaped in it, see `surrogates.masked`.
    """

    def __init__(
        self,
        text: str,
        *,
        json: bool,
        line: Callable[[int], int],
        plains: Plains,
        escapes: bool,
    ) -> None:
        self.text = text
        self.json = json
        self.line = line
        self.escapes = escapes
        self.plains = plains
        self.kubernetes = isinstance(plains, KubernetesPlains)
        self.begin(0)

    def begin(self, offset: int) -> None:
        """Start a document; `offset` is where the parser's text begins in ours."""
        self.offset = offset
        self.composed = Composed()
        self.outline = self.composed.outline
        self.faults = Faults(self.composed, self.text, self.line)
        self.stack: list[_Frame] = []
        self.container: _Container = None
        self.pending: _Pending = _Mark.KEY
        self.node = 0
        self.anchors: dict[str, _Anchor] = {}
        self.copied = 0
        self.merges: dict[int, list[tuple[int, Any, int]]] = {}

    def _add(self, event: Any, shape: NodeKind) -> int:
        outline = self.outline
        node = len(outline.shape)
        outline.start.append(self.offset + event.start_mark.index)
        outline.end.append(self.offset + event.end_mark.index)
        outline.after.append(node + 1)
        outline.shape.append(shape)
        return node

    def scalar(self, event: Any) -> None:
        """Add a scalar. Most nodes are scalars, so the common case is inlined here."""
        outline = self.outline
        node = len(outline.shape)
        outline.start.append(self.offset + event.start_mark.index)
        outline.end.append(self.offset + event.end_mark.index)
        outline.after.append(node + 1)
        outline.shape.append(_SCALAR)
        value: Plain = event.value
        if event.tag is not None:
            self.faults.tag(node, event.tag)
        elif not event.style:
            value = self.plains[event.value]
            if value.__class__ is AmbiguousScalar:
                value = self._ambiguous(node, value)
        if self.escapes:
            value = self._unmasked(node, value)
        if event.anchor is not None:
            self.anchors[event.anchor] = _Anchor(node, value, 1)
        container, pending = self.container, self.pending
        if container.__class__ is dict:
            if pending.__class__ is str:
                container[pending] = value
                self.pending = _Mark.KEY
                return
            if pending is _Mark.KEY and value.__class__ is str and value not in container:
                outline.key[node] = self.pending = value
                return
        self._attach(node, value)

    def open(self, event: Any, shape: NodeKind, container: _Container) -> None:
        """Start a mapping or sequence. Raises TooDeepError."""
        node = self._add(event, shape)
        if len(self.stack) >= MAX_DEPTH:
            raise TooDeepError(self.outline.start[node])
        if event.tag is not None:
            self.faults.tag(node, event.tag)
        if event.anchor is not None:
            self.anchors[event.anchor] = _Anchor(node)
        self.stack.append(
            _Frame(self.container, self.pending, self.node, event.anchor, self.copied)
        )
        self.container, self.pending, self.node = container, _Mark.KEY, node

    def close(self, event: Any) -> None:
        """End a mapping or sequence."""
        frame = self.stack.pop()
        node, value = self.node, self.container
        self.outline.end[node] = self.offset + event.end_mark.index
        self.outline.after[node] = len(self.outline.shape)
        if node in self.merges:
            self._merge(node, value)
        if frame.anchor is not None:
            anchor = self.anchors[frame.anchor]
            if anchor.node == node:
                anchor.value = value
                anchor.size = len(self.outline.shape) - node + self.copied - frame.copied
        self.container, self.pending, self.node = frame.container, frame.pending, frame.node
        self._attach(node, value)

    def alias(self, event: Any) -> None:
        """Add an alias: its value is a copy, so that the data is a tree."""
        node = self._add(event, NodeKind.ALIAS)
        name = shorten(event.anchor)
        anchor = self.anchors.get(event.anchor)
        if anchor is None:
            self.faults.syntax(
                node, f'alias "*{name}" has no anchor "&{name}" above it; write the value instead'
            )
            self.composed.flawed.add(node)
        elif not anchor.size:
            message = f'alias "*{name}" is inside the value of its anchor; write the value instead'
            self.faults.report(node, rules.RECURSIVE_ALIAS, message)
        elif self._fits(node, anchor):
            self.copied += anchor.size
            self.outline.target[node] = anchor.node
            self._attach(node, _copy(anchor.value))
            return
        self._attach(node, None)

    def _fits(self, node: int, anchor: _Anchor) -> bool:
        if len(self.stack) + self.outline.height(anchor.node) > MAX_DEPTH + 1:
            message = f"after aliases are expanded, this document is nested more than {MAX_DEPTH} levels deep; reduce the nesting"
            self.faults.report(node, rules.NESTING_TOO_DEEP, message)
            return False
        literal = len(self.outline.shape)
        if self.copied + anchor.size <= _ALIAS_NODES + _ALIAS_FACTOR * literal:
            return True
        if not self.composed.bombed:
            message = "aliases expand this document to an enormous size; replace the aliases by their values"
            self.faults.report(node, rules.ALIAS_BOMB, message)
        self.composed.bombed = True
        self.composed.flawed.add(node)
        return False

    def _attach(self, node: int, value: Any) -> None:
        container = self.container
        if isinstance(container, list):
            container.append(value)
        elif container is None:
            self.composed.data = value
        elif self.pending is _Mark.KEY:
            self._key(container, node, value)
        else:
            if self.pending is _Mark.MERGED:
                self.merges.setdefault(self.node, []).append((node, value, len(container)))
            elif isinstance(self.pending, str):
                container[self.pending] = value
            self.pending = _Mark.KEY

    def _key(self, container: dict[str, Any], node: int, value: Any) -> None:
        if value is _MERGE:
            self.pending = _Mark.MERGED
            if self.node in self.merges:
                message = 'key "<<" is set twice; merge all mappings with one key: "<<: [*a, *b]"'
                self.faults.report(node, rules.DUPLICATE_KEY, message)
            return
        if self.kubernetes and isinstance(value, int):
            value = "true" if value is True else "false" if value is False else f"{value}"
        if not isinstance(value, str):
            value = self.faults.key(node, value, self.node)
        if value is None:
            self.pending = _Mark.DROPPED
        elif value in container:
            self.faults.duplicate_key(self.node, node, value)
            self.pending = _Mark.DROPPED
        else:
            self.outline.key[node] = self.pending = value

    def _merge(self, node: int, container: Any) -> None:
        for below, value, count in self.merges.pop(node):
            parts = value if isinstance(value, list) else [value]
            if below in self.composed.flawed:
                continue
            if not all(isinstance(part, dict) for part in parts):
                message = 'the value of "<<" must be a mapping or a list of mappings; write the keys themselves'
                self.faults.report(below, rules.MERGE_NOT_A_MAPPING, message)
                continue
            self.outline.merge.setdefault(node, []).append(below)
            # To kubectl a merge is its keys in its place: they replace keys above it.
            above = set(islice(container, count if self.kubernetes else 0))
            for part in parts:
                for key, inner in part.items():
                    if key in above:
                        above.remove(key)
                        container[key] = inner
                    container.setdefault(key, inner)

    def _ambiguous(self, node: int, scalar: AmbiguousScalar) -> Any:
        key = isinstance(self.container, dict) and self.pending is _Mark.KEY
        if scalar.text == "<<" and (key or self.kubernetes):
            return _MERGE if key else scalar.text
        self.faults.report(node, scalar.rule, scalar.message(key=key))
        return scalar.text

    def _unmasked(self, node: int, value: Plain) -> Plain:
        """A scalar whose escaped surrogate pairs were masked, with the real characters."""
        pair = surrogates.unmasked(self.faults.raw(node)) if self.json else None
        value = value if pair is None else pair
        if isinstance(value, str) and surrogates.has_surrogate(value):
            message = "this escape is half of a surrogate pair; write the character itself"
            self.faults.syntax(node, message)
            return ""
        return value

    def finished(self) -> Composed:
        """The document, after its last event."""
        self.faults.finish()
        return self.composed


_MERGE: Final = object()
"""The value of a plain `<<` that is a key."""


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_copy(inner) for inner in value]
    return value
