"""The documents of the input: plain data, and the place of each part."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from policygen.core.finding import Finding, Path, Place, at_path
from policygen.documents.files import Source
from policygen.documents.outline import BLANKS, NodeKind, Outline
from policygen.documents.parse import compose, composed, is_json, looks_like_json
from policygen.documents.parsed import Composed, FastDocument, TextHit
from policygen.documents.positions import Inset, Lines, Positions, literal_origins
from policygen.documents.rules import NOT_A_MAPPING, SEVERAL_DOCUMENTS

_LINE = re.compile(r"[^\r\n]*")
_LITERAL = re.compile(r"\|[-+0-9]*")
_TEXTS = frozenset({str, type(None)})
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
    """dict, list, str, int, float, bool or None. None: an alias bomb, or not needed by the reader.

    Keys that are not strings are read as text, and refused scalars as their text. Of equal keys,
    the first counts. Each of these is one of `faults`.
    """
    positions: Positions
    composed: Composed

    @property
    def outline(self) -> Outline:
        """The places of its nodes."""
        return self.composed.outline

    @property
    def flawed(self) -> set[int]:
        """The nodes that `faults` are about."""
        return self.composed.flawed

    @property
    def faults(self) -> list[Finding]:
        """Findings about YAML that is valid but not allowed."""
        return _findings(self.composed.content, self.positions)

    @property
    def line(self) -> int:
        """Where it begins."""
        return self.place(()).line

    def place(self, path: Path, *, key: bool = False) -> Place:
        """The place of the value at a path, or of its key.

        The place of a mapping, a sequence or an empty value is its key, or its first line if it has
        no key; of a text of several lines, the first one. A path through an alias leads to the
        anchor. A path that does not exist means its longest existing part.
        """
        return self.positions.place(*self.span(path, key=key))

    def span(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """Where the place of a path is in `positions.text`."""
        outline, text = self.composed.places, self.positions.text
        step, length = outline.find(path)
        start, end = outline.span(step.node, text)
        collection = outline.shape[step.node] in {NodeKind.MAPPING, NodeKind.SEQUENCE}
        by_key = collection or start == end or (key and length == len(path))
        if step.key is not None and by_key:
            start, end = outline.span(step.key, text)
        line = _LINE.match(text, start, end)
        return start, start + len(line[0].rstrip(BLANKS)) if line else end

    def raw(self, path: Path) -> str | None:
        """A scalar as it is written (`1.30`, with its quotes); None for other values."""
        found = self._raw(path, self.composed.places)
        is_block = found is not None and found.startswith("|")
        return self._raw(path, self.outline) if is_block else found

    def _raw(self, path: Path, outline: Outline) -> str | None:
        step, length = outline.find(path)
        node = outline.target.get(step.node, step.node)
        if length < len(path) or outline.shape[node] != NodeKind.SCALAR:
            return None
        start, end = outline.span(node, self.positions.text)
        return self.positions.text[start:end]

    def is_flawed(self, path: Path, *, key: bool = False) -> bool:
        """Whether `load` has refused this scalar or key already."""
        if not self.flawed:
            return False
        step, length = self.outline.find(path)
        nodes = {step.key} if key else {step.node, self.outline.target.get(step.node)}
        return length == len(path) and not self.flawed.isdisjoint(nodes)


def load(
    source: Source,
    *,
    first_index: int = 0,
    kubernetes: bool = False,
    fast: Sequence[FastDocument] | None = None,
) -> tuple[list[Document], list[Finding]]:
    """The documents of a source, and findings about their syntax; see also `Document.faults`.

    Empty documents are skipped. A document that cannot be parsed, or is not a mapping, is only a
    finding. With `kubernetes`, scalars are read as kubectl reads them; without it, ambiguous scalars
    are faults. `fast` are the documents of the source if they were read already.
    """
    lines = Lines(source.name, source.text)
    if fast is not None:
        json = is_json(source.name, source.text)
        read = (composed(source.text, it, json=json) for it in fast)
        return _documents(source, lines, first_index, read)
    return _load(
        source,
        lines,
        first_index,
        json=source.name.lower().endswith(".json"),
        kubernetes=kubernetes,
    )


def with_faults(documents: Iterable[Document], findings: Iterable[Finding]) -> list[Finding]:
    """The findings of `load` and the faults of these documents, in the order of the text."""
    found = [*findings, *(fault for document in documents for fault in document.faults)]
    return sorted(found, key=lambda finding: finding.place or ())


def inner(
    document: Document, path: Path, *, index: int, kubernetes: bool = False
) -> tuple[Document | None, list[Finding]]:
    """The YAML text inside a scalar, as a separate document with the header of the inner text.

    Its places are in the outer file: exact for a literal block (`|`), else the complete scalar.
    None without a finding if there is no text at the path, or the text is empty.
    """
    value = at_path(document.data, path)
    if not isinstance(value, str):
        return None, []
    positions = _inset(document, path, value)
    documents, findings = _load(document.source, positions, index, kubernetes=kubernetes)
    findings = with_faults(documents, findings)
    if len(documents) > 1:
        message = (
            "this text must contain only one YAML document; keep the first, and remove the others"
        )
        problem = Finding(SEVERAL_DOCUMENTS, message, documents[1].place(()))
        return documents[0], [*findings, problem]
    return (documents[0] if documents else None), findings


def _load(
    source: Source, positions: Positions, first_index: int, *, json: bool = False, kubernetes: bool
) -> tuple[list[Document], list[Finding]]:
    def line(index: int) -> int:
        return positions.place(index, index).line

    json = json or looks_like_json(positions.text)
    read = compose(positions.text, json=json, line=line, kubernetes=kubernetes)
    return _documents(source, positions, first_index, read)


def _documents(
    source: Source, positions: Positions, first_index: int, read: Iterable[Composed]
) -> tuple[list[Document], list[Finding]]:
    documents: list[Document] = []
    findings: list[Finding] = []
    for one in read:
        findings += _findings(one.syntax, positions)
        if not one.parsed or one.data is None:
            continue
        header = _header(one, positions.text)
        data = None if one.bombed else one.data
        one.data = None  # so that a reader can drop the data of its Document
        index = first_index + len(documents)
        document = Document(index, source, header, data, positions, one)
        if data is None or isinstance(data, dict):
            documents.append(document)
            continue
        message = _not_a_mapping(data)
        findings += [*document.faults, Finding(NOT_A_MAPPING, message, document.place(()))]
    return documents, findings


def _not_a_mapping(data: Any) -> str:
    """Why the data of a document is not an object."""
    if isinstance(data, list) and data and all(map(_is_operation, data)):
        return (
            "this is a JSON patch and not an object; use the output of the tool that applies it, such as "
            "`kustomize build`"
        )
    found = _FOUND.get(type(data), "a number")
    return f'a document must be a mapping (lines "key: value"), not {found}'


def _is_operation(entry: Any) -> bool:
    """Whether an entry of a list is an operation of a JSON patch (RFC 6902)."""
    return isinstance(entry, dict) and {"op", "path"} <= entry.keys()


def _findings(problems: Sequence[TextHit], positions: Positions) -> list[Finding]:
    return [Finding(it.rule, it.message, positions.place(it.start, it.end)) for it in problems]


def _header(composed: Composed, text: str) -> Header:
    data = composed.data if isinstance(composed.data, dict) else {}
    api_version, kind, metadata = data.get("apiVersion"), data.get("kind"), data.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not _TEXTS.issuperset((type(api_version), type(kind), type(name))):
        api_version = _as_written(composed, text, api_version, "apiVersion")
        kind = _as_written(composed, text, kind, "kind")
        name = _as_written(composed, text, name, "metadata", "name")
    return Header(api_version, kind, name)


def _as_written(composed: Composed, text: str, value: Any, *path: str) -> str | None:
    """The scalar at a path; None if it is missing or no scalar."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dict | list):
        return None
    places = composed.places
    step, _ = places.find(path)
    start, end = places.span(places.target.get(step.node, step.node), text)
    return text[start:end]


def _inset(document: Document, path: Path, value: str) -> Inset:
    step, _ = document.outline.find(path)
    text = document.positions.text
    node = document.outline.target.get(step.node, step.node)
    start, _ = document.outline.span(node, text)
    origins: list[int | None] = []
    if _LITERAL.match(text, start):
        origins = literal_origins(value, text, start)
    return Inset(value, document.positions, document.place(path), origins)
