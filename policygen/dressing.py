"""Hits on objects as findings: whom they are about, which field, and where that stands."""

from collections.abc import Iterable, Sequence

from policygen.cluster.object import Object
from policygen.cluster.renames import written
from policygen.finding import At, Finding, Hit, Place, Related, dotted, named
from policygen.spec import document
from policygen.spec.document import Document


def dress(
    documents: Sequence[Document], objects: Iterable[Object], hits: Iterable[Hit]
) -> list[Finding]:
    """Findings in the order of the text, each once. Only these places are looked up.

    A hit on what was refused as YAML already is left out: it would blame what was only put there.
    """
    by_root = {(it.at.document, it.at.path): it for it in objects}
    by_index = {each.index: each for each in documents}

    def place(at: At, it: Object | None) -> Place | None:
        each = by_index.get(at.document)
        if each is None:
            return None
        return each.place(_as_written(it, at).path, key=at.key)

    def owner(at: At) -> Object | None:
        for length in range(len(at.path), -1, -1):
            it = by_root.get((at.document, at.path[:length]))
            if it is not None:
                return it
        return None

    findings = []
    for hit in hits:
        if hit.at is None:
            findings.append(Finding(hit.severity, hit.rule, hit.message))
            continue
        it = owner(hit.at)
        holder = by_index.get(hit.at.document)
        if (
            holder
            and holder.flawed
            and holder.is_flawed(_as_written(it, hit.at).path, key=hit.at.key)
        ):
            continue
        related = []
        for at in hit.related:
            other = owner(at)
            related.append(Related(str(other or ""), place(at, other)))
        path = written(it, hit.at.path[len(it.at.path) :]) if it else hit.at.path
        findings.append(
            Finding(
                hit.severity,
                hit.rule,
                hit.message,
                place(hit.at, it),
                object=str(it or ""),
                path=dotted(path),
                anchor=dotted(named(it.data, path)) if it else "",
                related=tuple(related),
                edits=tuple(
                    edit._replace(at=_as_written(owner(edit.at), edit.at)) for edit in hit.edits
                ),
                command=hit.command,
            )
        )
    return document.ordered(findings)


def _as_written(it: Object | None, at: At) -> At:
    """A place of the newest version of an object as the object has it."""
    if it is None:
        return at
    root = len(it.at.path)
    return at._replace(path=(*at.path[:root], *written(it, at.path[root:])))
