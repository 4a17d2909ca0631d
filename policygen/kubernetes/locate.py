"""Makes findings of hits on objects: the object, the field and the place in the text."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from policygen.core import processes
from policygen.core.finding import (
    THERE,
    At,
    Finding,
    Hit,
    Path,
    Place,
    Related,
    at_path,
    dotted,
    named,
)
from policygen.documents import placeholders
from policygen.documents.document import Document
from policygen.documents.locate import ordered
from policygen.kubernetes.object import Object
from policygen.kubernetes.renames import written

MANY = 500
"""Documents with findings for which a second process pays. It takes 60 ms, and each document 0.2 ms."""

_SPANS = msgspec.msgpack.Decoder(list[tuple[int, int]])


def locate_objects(
    documents: Sequence[Document], objects: Iterable[Object], hits: Iterable[Hit]
) -> list[Finding]:
    """Findings in the order of the text, without duplicates. Only their places are looked up.

    A hit on a value that replaces invalid YAML is skipped. For a placeholder of a template, one
    finding reports the placeholder, and other hits on it are skipped.
    """
    by_root = {(it.at.document, it.at.path): it for it in objects}
    by_index = {it.index: it for it in documents}

    def owner(at: At) -> Object | None:
        for length in range(len(at.path), -1, -1):
            object_ = by_root.get((at.document, at.path[:length]))
            if object_ is not None:
                return object_
        return None

    reported = list(_reported(hits, owner, by_index))
    spans = _spans(
        by_index,
        [
            _as_written(owner(at), at)
            for _, hit in reported
            for at in (hit.at, *hit.related)
            if at is not None
        ],
    )

    def place(at: At, object_: Object | None) -> Place | None:
        document = by_index.get(at.document)
        if document is None:
            return None
        return document.positions.place(*spans[_as_written(object_, at)])

    findings = []
    for object_, hit in reported:
        if hit.at is None:
            findings.append(Finding(hit.rule, hit.message))
            continue
        related = []
        for at in hit.related:
            other = owner(at)
            related.append(Related(str(other or ""), place(at, other)))
        there = next((each.place for each in related if each.place), None)
        path = _own(object_, hit.at.path[len(object_.at.path) :]) if object_ else hit.at.path
        findings.append(
            Finding(
                hit.rule,
                hit.message.replace(THERE, f"{there.file}:{there.line}" if there else "elsewhere"),
                place(hit.at, object_),
                object=str(object_ or ""),
                path=dotted(path),
                anchor=dotted(named(object_.data, path)) if object_ else "",
                related=tuple(related),
                edits=tuple(
                    edit._replace(at=_as_written(owner(edit.at), edit.at)) for edit in hit.edits
                ),
                command=hit.command,
            )
        )
    return ordered(findings)


def _spans(by_index: Mapping[int, Document], wanted: Iterable[At]) -> dict[At, tuple[int, int]]:
    """Where places are in their texts; those of many documents are looked up in two processes."""
    by_document: dict[int, dict[At, None]] = {}
    for at in wanted:
        if at.document in by_index:
            by_document.setdefault(at.document, {})[at] = None

    def found(index: int) -> list[tuple[int, int]]:
        document = by_index[index]
        return [document.span(at.path, key=at.key) for at in by_document[index]]

    if len(by_document) >= MANY and processes.usable():
        encode, decode = msgspec.msgpack.encode, _SPANS.decode
        spans = processes.mapped(found, [*by_document], encode, decode)
    else:
        spans = [found(index) for index in by_document]
    return {
        at: span
        for group, those in zip(by_document.values(), spans, strict=True)
        for at, span in zip(group, those, strict=True)
    }


def _reported(
    hits: Iterable[Hit], owner: Callable[[At], Object | None], by_index: Mapping[int, Document]
) -> Iterator[tuple[Object | None, Hit]]:
    """The hits to report, each with its object."""
    blanks = set()
    for hit in hits:
        at, object_ = hit.at, owner(hit.at) if hit.at else None
        if at is None or object_ is None:
            yield object_, hit
        elif _is_flawed(object_, at, by_index.get(at.document)):
            continue
        elif not _is_blank(object_, at):
            reading = _reading_of(object_, at, by_index.get(at.document))
            yield object_, (hit._replace(message=f"{hit.message} ({reading})") if reading else hit)
        elif at not in blanks:
            blanks.add(at)
            yield object_, hit._replace(message=placeholders.MESSAGE, related=(), edits=())


def _is_flawed(object_: Object, at: At, holder: Document | None) -> bool:
    if holder is None or not holder.flawed:
        return False
    return holder.is_flawed(_as_written(object_, at).path, key=at.key)


def _reading_of(object_: Object, at: At, holder: Document | None) -> str:
    """How YAML reads a value that looks like another one, such as `n` or `0x10`; else empty."""
    path = _as_written(object_, at).path
    value = at_path(object_.data, path[len(object_.at.path) :])
    if at.key or holder is None or not isinstance(value, int):
        return ""
    raw, read = holder.raw(path), str(value).lower()
    return f"YAML reads {raw} as {read}" if raw and raw.lower() != read else ""


def _is_blank(object_: Object, at: At) -> bool:
    path = _as_written(object_, at).path[len(object_.at.path) :]
    return placeholders.is_blank(path[-1] if at.key and path else at_path(object_.data, path))


def _as_written(object_: Object | None, at: At) -> At:
    """The place in the object's own API version of a place in the newest one."""
    if object_ is None:
        return at
    root = len(object_.at.path)
    return at._replace(path=(*at.path[:root], *_own(object_, at.path[root:])))


def _own(object_: Object, path: Path) -> Path:
    """A path of the newest API version in the object; a field that exists there is not renamed."""
    return written(object_, path) if at_path(object_.data, path) is None else path
