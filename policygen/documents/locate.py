"""Makes findings of hits in documents, and orders findings."""

from collections.abc import Iterable, Sequence

from policygen.core.finding import Finding, Hit, Place, dotted
from policygen.documents.document import Document


def locate(documents: Sequence[Document], hits: Iterable[Hit]) -> list[Finding]:
    """Hits as findings, each once, in the order of the text.

    A hit on a scalar or key that `document.load` has refused is skipped: its value only replaces the
    refused one.
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
    """Findings by cluster, file, line, column and message, without duplicates; those without a place first.

    On a cluster, findings of one object are together, and the worst comes first.
    """
    by_text: dict[object, Finding] = {}
    for finding in findings:
        by_text.setdefault(_as_shown(finding), finding)
    once = by_text.values()  # in a stable order, which decides between equal places
    worst: dict[tuple[str, str], int] = {}
    for finding in once:
        if finding.cluster:
            worst[_about(finding)] = max(worst.get(_about(finding), 0), finding.severity)

    def order(finding: Finding) -> tuple[object, ...]:
        at = finding.place or Place("")
        about = _about(finding)
        rank = (-worst[about], about[1], -finding.severity, finding.path) if finding.cluster else ()
        return (
            finding.cluster,
            rank,
            at.file,
            at.line,
            at.column,
            finding.message,
            finding.rule,
            -finding.severity,
        )

    return sorted(once, key=order)


def _as_shown(finding: Finding) -> object:
    """Equal for findings that look the same: a YAML alias puts several fields at one place."""
    if finding.place is None or not finding.place.line:
        return finding
    return finding._replace(path="", anchor="", related=(), edits=())


def _about(finding: Finding) -> tuple[str, str]:
    """The object of a cluster, or the file inside it, which sorts after it."""
    return finding.cluster, finding.place.file if finding.place else finding.object
