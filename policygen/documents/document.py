"""The documents of the input: plain data, and the place of each part."""

import re
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from policygen.core.finding import Finding, Path, Place, at_path
from policygen.documents.files import Source
from policygen.documents.outline import BLANKS, NodeKind, Outline
from policygen.documents.parse import compose, looks_like_json
from policygen.documents.parsed import Composed, TextHit
from policygen.documents.positions import Inset, Lines, Positions, literal_origins
from policygen.documents.rules import NOT_A_MAPPING, SEVERAL_DOCUMENTS

_LINE = re.compile(r"[^\r\n]*")
_LITERAL = re.compile(r"\|[-+0-9]*")
_FOUND = {list: "a list", str: "text", bool: "true or false"}


class Header(Struct, frozen=True):
    """The header of a document; a part that is missing or not a scalar is None."""

    api_version: str | None
    kind: str | None
    name: str | None
    """metadata.name"""

    def __str__(self) -> str:
        return " ".join(part for part in (self.kind, self.name) if part)


class Document(Struct, eq=False):
    """One mapping of the input."""

    index: int
    """Its place among all documents of the input: At.document refers to it."""
    source: Source
    header: Header
    data: Any
    """dict, list, str, int, float, bool, None. None: not ours, or an alias bomb.

    Keys that are no text are here as text, refused scalars as their text, of equal keys the
    first; each of these has its finding.
    """
    positions: Positions
    composed: Composed

    @property
    def outline(self) -> Outline:
        """Where its nodes stand."""
        return self.composed.outline

    @property
    def flawed(self) -> set[int]:
        """The nodes that `load` has findings about."""
        return self.composed.flawed

    @property
    def line(self) -> int:
        """Where it begins."""
        return self.place(()).line

    def place(self, path: Path, *, key: bool = False) -> Place:
        """The place of the value at a path, or of its key.

        A mapping, a sequence or an empty value is shown by its key, or by its first line if
        it has none; a text of several lines by the first. Where a path goes through an
        alias, its end stands at the anchor. A path that does not exist stands for its
        longest part that does.
        """
        step, length = self.outline.find(path)
        outline, text = self.outline, self.positions.text
        start, end = outline.span(step.node, text)
        collection = outline.shape[step.node] in {NodeKind.MAPPING, NodeKind.SEQUENCE}
        wanted = collection or start == end or (key and length == len(path))
        if step.key is not None and wanted:
            start, end = outline.span(step.key, text)
        line = _LINE.match(text, start, end)
        return self.positions.place(start, start + len(line[0].rstrip(BLANKS)) if line else end)

    def raw(self, path: Path) -> str | None:
        """A scalar as it is written (`1.30`, with its quotes); None for other values."""
        step, length = self.outline.find(path)
        node = self.outline.target.get(step.node, step.node)
        if length < len(path) or self.outline.shape[node] != NodeKind.SCALAR:
            return None
        start, end = self.outline.span(node, self.positions.text)
        return self.positions.text[start:end]

    def is_flawed(self, path: Path, *, key: bool = False) -> bool:
        """Whether `load` has refused this very scalar or key already."""
        if not self.flawed:
            return False
        step, length = self.outline.find(path)
        meant = {step.key} if key else {step.node, self.outline.target.get(step.node)}
        return length == len(path) and not self.flawed.isdisjoint(meant)


def load(
    source: Source,
    *,
    ours: Callable[[Header], bool],
    first_index: int = 0,
    kubernetes: bool = False,
) -> tuple[list[Document], list[Finding]]:
    """The documents of a source, and findings about their YAML.

    Empty documents are skipped. Of a document that `ours` does not want only the syntax is
    checked. A document that cannot be parsed, or is no mapping, is only a finding. With
    `kubernetes` scalars are what they are to kubectl; without it, what readers differ about is
    a finding.
    """
    json = source.name.lower().endswith(".json")
    lines = Lines(source.name, source.text)
    return _load(source, lines, ours, first_index, json=json, kubernetes=kubernetes)


def inner(
    document: Document, path: Path, *, index: int, kubernetes: bool = False
) -> tuple[Document | None, list[Finding]]:
    """The YAML text inside a scalar, as a document of its own.

    Its places point into the outer file: exactly for a literal block (`|`), to the scalar as
    a whole for other styles. None without a finding if there is no text at the path, or
    nothing in the text. The header of the result is what the inner text says.
    """
    value = at_path(document.data, path)
    if not isinstance(value, str):
        return None, []
    positions = _inset(document, path, value)
    documents, findings = _load(
        document.source, positions, lambda _: True, index, kubernetes=kubernetes
    )
    if len(documents) > 1:
        message = "this text must be one document; remove the others"
        problem = Finding(SEVERAL_DOCUMENTS, message, documents[1].place(()))
        return documents[0], [*findings, problem]
    return (documents[0] if documents else None), findings


def _load(  # noqa: PLR0913 - all that both ways in know
    source: Source,
    positions: Positions,
    ours: Callable[[Header], bool],
    first_index: int,
    *,
    json: bool = False,
    kubernetes: bool = False,
) -> tuple[list[Document], list[Finding]]:
    documents: list[Document] = []
    findings: list[Finding] = []

    def line(index: int) -> int:
        return positions.place(index, index).line

    def say(problem: TextHit) -> None:
        place = positions.place(problem.start, problem.end)
        findings.append(Finding(problem.rule, problem.message, place))

    json = json or looks_like_json(positions.text)
    for it in compose(positions.text, json=json, line=line, kubernetes=kubernetes):
        for problem in it.syntax:
            say(problem)
        if not it.parsed or it.data is None:
            continue
        header = _header(it, positions.text)
        if isinstance(it.data, dict) and not ours(header):
            it.data = None
        else:
            for problem in it.content:
                say(problem)
        if it.bombed:
            it.data = None
        index = first_index + len(documents)
        document = Document(index, source, header, it.data, positions, it)
        if it.data is None or isinstance(it.data, dict):
            documents.append(document)
            continue
        found = _FOUND.get(type(it.data), "a number")
        message = f'a document must be a mapping (lines "key: value"), not {found}'
        findings.append(Finding(NOT_A_MAPPING, message, document.place(())))
    return documents, findings


def _header(it: Composed, text: str) -> Header:
    def read(*path: str) -> str | None:
        value = at_path(it.data, path)
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, dict | list):
            return None
        step, _ = it.outline.find(path)
        start, end = it.outline.span(it.outline.target.get(step.node, step.node), text)
        return text[start:end]

    return Header(read("apiVersion"), read("kind"), read("metadata", "name"))


def _inset(document: Document, path: Path, value: str) -> Inset:
    step, _ = document.outline.find(path)
    text = document.positions.text
    node = document.outline.target.get(step.node, step.node)
    start, _ = document.outline.span(node, text)
    origins: list[int | None] = []
    if _LITERAL.match(text, start):
        origins = literal_origins(value, text, start)
    return Inset(value, document.positions, document.place(path), origins)
