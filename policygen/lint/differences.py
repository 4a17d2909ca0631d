"""Joins a hit about several differences with hits of other rules about the same ones, so that each is reported once."""

from collections.abc import Sequence

from policygen.core.finding import At, Difference, Hit
from policygen.core.quoting import listed
from policygen.lint.exceeded import Hits, without


def message(head: str, differences: Sequence[Difference]) -> str:
    """The message of a hit: what is missing and what is different, and what to do."""
    wrong = [it for it in differences if it.at is not None]
    missing = [it.text for it in differences if it.at is None]
    parts = [it.text for it in wrong]
    remedies = [wrong[0].remedy] if len(wrong) == 1 else ["correct these values"] if wrong else []
    if missing:
        parts.append(f"it does not have {listed(missing, 'and')}")
        remedies.append("run `policygen patch FILE --spec SPEC --write`")
    return f"{head}: {'; '.join(parts)}; {', then '.join(remedies)}"


def place(root: At, differences: Sequence[Difference]) -> At:
    """Where a hit about an object is: at the first wrong value, else at the name of the object."""
    wrong = (it.at for it in differences if it.at is not None)
    return next(wrong, root.to("metadata", "name"))


def joined(found: Sequence[Hits]) -> list[Hits]:
    """The hits of all rules, with one hit for each difference.

    An error of another rule replaces the difference, because a server refuses the object; if it is a
    consequence, it has the remedy of the difference. Other hits are omitted, because the difference shows
    the value that the policy needs.
    """
    main = [hit for hits in found for hit in hits if hit.differences]
    if not main:
        return list(found)
    by_document: dict[int, list[Hit]] = {}
    for hit in (hit for hits in found for hit in hits if not hit.differences):
        for document in {it.document for it in _places(hit)}:
            by_document.setdefault(document, []).append(hit)
    instead: dict[int, Hit | None] = {}
    for hit in main:
        document = hit.differences[0].object.document
        instead |= _instead(hit, by_document.get(document, ()))
    return [tuple(without(hits, instead)) for hits in found]


def _instead(hit: Hit, others: Sequence[Hit]) -> dict[int, Hit | None]:
    """What replaces a hit and those about the same differences, by their ids; None: nothing."""
    made: dict[int, Hit | None] = {}
    kept: list[Difference] = []
    for difference in hit.differences:
        same = [it for it in others if _is_about(it, difference)]
        worst = max(same, key=lambda it: it.rule.severity, default=hit)
        if worst.rule.severity <= hit.rule.severity:
            worst = hit
            kept.append(difference)
        made |= {id(it): None for it in same if it is not worst}
        if worst is not hit and difference.remedy and worst.rule.name in difference.rules:
            fault = worst.message.rpartition("; ")[0]
            made[id(worst)] = worst._replace(message=f"{fault}; {difference.remedy}")
    if len(kept) < len(hit.differences):
        made[id(hit)] = None
    if kept and len(kept) < len(hit.differences):
        head = hit.message.partition(": ")[0]
        at = place(kept[0].object, kept)
        made[id(hit)] = hit._replace(message=message(head, kept), at=at, differences=tuple(kept))
    return made


def _is_about(hit: Hit, difference: Difference) -> bool:
    """Whether a hit of another rule reports a difference, too."""
    if hit.at is not None and hit.at == difference.at:
        return True
    document, path, _ = difference.object
    return hit.rule.name in difference.rules and any(
        it.document == document and it.path[: len(path)] == path for it in _places(hit)
    )


def _places(hit: Hit) -> Sequence[At]:
    """The places that a hit is about: a quota can be at fault only because of a workload."""
    return (hit.at, *hit.related) if hit.at is not None else hit.related
