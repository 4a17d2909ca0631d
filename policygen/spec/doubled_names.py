"""Joins a name that two documents have with the name that then is missing: they are one fault."""

from collections.abc import Sequence

from policygen.core.finding import Hit, at_path
from policygen.core.quoting import quoted
from policygen.documents.document import Document
from policygen.spec import forms
from policygen.spec.rules import OBJECT_DECLARED_TWICE, UNKNOWN_REFERENCE

_FIELDS = {
    forms.RESOURCE_POOL.kind: ("pool", "pools"),
    forms.TEAM.kind: ("team", "parent"),
}
"""The fields that refer to a kind."""


def joined(
    hits: Sequence[Hit], dangling: Sequence[Hit], documents: Sequence[Document]
) -> list[Hit]:
    """All hits. If one name of a kind is used twice and one is missing, only the first is reported.

    Its message then names the missing one, since a document was probably copied or renamed.
    """
    found, left = [*hits], [*dangling]
    for kind, fields in _FIELDS.items():
        twice = [it for it in found if _is_twice(it, kind, documents)]
        missing = [it for it in left if it.rule is UNKNOWN_REFERENCE and _field(it) in fields]
        names = {_value(it, documents) for it in missing}
        if len(twice) != 1 or len(names) != 1 or any(_is_in(it, twice[0]) for it in missing):
            continue
        (double,), (name,) = twice, names
        message = (
            f"{double.message.rpartition('; ')[0]}, and {kind} {quoted(name)} does not exist, although "
            f"other documents refer to it; rename one of the two to {quoted(name)}"
        )
        related = (*double.related, *(it.at for it in missing if it.at))
        found[found.index(double)] = double._replace(message=message, related=related)
        left = [it for it in left if it not in missing]
    return [*found, *left]


def _is_twice(hit: Hit, kind: str, documents: Sequence[Document]) -> bool:
    named = (
        hit.rule is OBJECT_DECLARED_TWICE and hit.at is not None and hit.at.path[0] == "metadata"
    )
    return named and hit.at is not None and documents[hit.at.document].header.kind == kind


def _is_in(hit: Hit, other: Hit) -> bool:
    return hit.at is not None and other.at is not None and hit.at.document == other.at.document


def _field(hit: Hit) -> object:
    """The field that refers to the missing name; "" if it is not a field of a document."""
    steps = hit.at.path if hit.at else ()
    return next((it for it in reversed(steps) if isinstance(it, str)), "")


def _value(hit: Hit, documents: Sequence[Document]) -> str:
    """The missing name."""
    return str(at_path(documents[hit.at.document].data, hit.at.path)) if hit.at else ""
