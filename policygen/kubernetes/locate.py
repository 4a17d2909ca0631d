"""Makes findings of hits on objects: the object, the field and the place in the text."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from policygen.core.finding import (
    THERE,
    At,
    Finding,
    Hit,
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
from policygen.kubernetes.renames import as_written, own_path


def locate_objects(
    documents: Sequence[Document], objects: Iterable[Object], hits: Iterable[Hit]
) -> list[Finding]:
    """Findings in the order of the text, without duplicates. Only their places are looked up.

    A hit on a value that replaces invalid YAML is skipped. For a placeholder of a template, one
    finding reports the placeholder, and other hits on it are skipped.
    """
    hits = [*hits]
    places = (at for it in hits for at in (it.at, *it.related, *(each.at for each in it.edits)))
    used = {at.document for at in places if at is not None}
    by_root = {(it.at.document, it.at.path): it for it in objects if it.at.document in used}
    by_index = {it.index: it for it in documents if it.index in used}

    def owner(at: At) -> Object | None:
        for length in range(len(at.path), -1, -1):
            object_ = by_root.get((at.document, at.path[:length]))
            if object_ is not None:
                return object_
        return None

    def place(at: At, object_: Object | None) -> Place | None:
        document = by_index.get(at.document)
        if document is None:
            return None
        there = as_written(object_, at)
        return document.place(there.path, key=there.key)

    findings = []
    for object_, hit in _reported(hits, owner, by_index):
        if hit.at is None:
            findings.append(Finding(hit.rule, hit.message, configured=hit.severity))
            continue
        related = []
        for at in hit.related:
            other = owner(at)
            related.append(Related(str(other or ""), place(at, other)))
        path = own_path(object_, hit.at.path[len(object_.at.path) :]) if object_ else hit.at.path
        shown = dotted(path)
        steps = named(object_.data, path) if object_ else ()
        findings.append(
            Finding(
                hit.rule,
                _with_places(hit.message, related),
                place(hit.at, object_),
                object=str(object_ or ""),
                path=shown,
                anchor=shown if steps == path else dotted(steps),
                related=tuple(related),
                edits=tuple(
                    edit._replace(at=as_written(owner(edit.at), edit.at)) for edit in hit.edits
                ),
                command=hit.command,
                configured=hit.severity,
            )
        )
    return ordered(findings)


def _with_places(message: str, related: Sequence[Related]) -> str:
    """The message with the places of the first of `related` instead of its placeholders."""
    for each in related[: message.count(THERE)]:
        place = f"{each.place.file}:{each.place.line}" if each.place else "elsewhere"
        message = message.replace(THERE, place, 1)
    return message.replace(THERE, "elsewhere")


def _reported(
    hits: Iterable[Hit], owner: Callable[[At], Object | None], by_index: Mapping[int, Document]
) -> Iterator[tuple[Object | None, Hit]]:
    """The hits to report, each with its object."""
    blanks = set()
    for hit in hits:
        at, object_ = hit.at, owner(hit.at) if hit.at else None
        if at is None or object_ is None:
            yield object_, hit
            continue
        there, holder = as_written(object_, at), by_index.get(at.document)
        if holder is not None and holder.is_flawed(there.path, key=at.key):
            continue
        path = there.path[len(object_.at.path) :]
        value = path[-1] if at.key and path else at_path(object_.data, path)
        if placeholders.is_blank(value):
            if at not in blanks:
                blanks.add(at)
                yield object_, hit._replace(message=placeholders.MESSAGE, related=(), edits=())
        elif isinstance(value, int) and holder is not None and not at.key:
            yield object_, _as_read(hit, holder.raw(there.path), value)
        else:
            yield object_, hit


def _as_read(hit: Hit, raw: str | None, value: int) -> Hit:
    """The hit with how YAML reads a value that looks like another one, such as `n` or `0x10`."""
    read = str(value).lower()
    if not raw or raw.lower() == read:
        return hit
    return hit._replace(message=f"{hit.message} (YAML reads {raw} as {read})")
