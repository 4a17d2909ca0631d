"""Hits in documents as findings, and the order of findings."""

from collections.abc import Iterable, Sequence

from policygen.core.finding import Finding, Hit, Place, dotted
from policygen.documents.document import Document


def locate(documents: Sequence[Document], hits: Iterable[Hit]) -> list[Finding]:
    """Hits as findings, each once, in the order of the text.

    A hit on a scalar or key that `document.load` has refused itself is left out: it would
    blame what was only put in that one's place.
    """
    known = {document.index: document for document in documents}
    findings = []
    for hit in hits:
        document = known.get(hit.at.document) if hit.at else None
        where, object_, path = None, "", ""
        if hit.at and document:
            if document.is_flawed(hit.at.path, key=hit.at.key):
                continue
            where = document.place(hit.at.path, key=hit.at.key)
            object_, path = str(document.header), dotted(hit.at.path)
        findings.append(Finding(hit.rule, hit.message, where, object_, path, path))
    return ordered(findings)


def ordered(findings: Iterable[Finding]) -> list[Finding]:
    """Findings by cluster, file, line, column and message, each once; those without first.

    On a cluster, findings of one object are together, and the worst comes first.
    """
    once = set(findings)
    worst: dict[tuple[str, str], int] = {}
    for it in once:
        if it.cluster:
            worst[_about(it)] = max(worst.get(_about(it), 0), it.severity)

    def order(it: Finding) -> tuple[object, ...]:
        at = it.place or Place("")
        about = _about(it)
        rank = (-worst[about], about[1], -it.severity, it.path) if it.cluster else ()
        return (it.cluster, rank, at.file, at.line, at.column, it.message, it.rule, -it.severity)

    return sorted(once, key=order)


def _about(it: Finding) -> tuple[str, str]:
    """The object of a cluster, or the file that one holds, which sorts behind it."""
    return it.cluster, it.place.file if it.place else it.object
