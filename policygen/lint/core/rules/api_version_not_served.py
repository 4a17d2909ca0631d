"""An object has an apiVersion or kind that the target API server does not serve."""

from collections.abc import Iterator

from policygen.core.finding import Edit, Hit, Verb
from policygen.core.rule import Severity
from policygen.lint.core.api_versions import fault, is_of_kind, successor
from policygen.lint.rule import Facts, Family, Fix, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """The API server answers 404. Source: what running servers serve, `schemas/cluster`."""
    known: dict[tuple[str, str], str | None] = {}  # these two decide
    for it in facts.cluster.objects:
        kind = it.api_version, it.kind
        if kind not in known:
            known[kind] = fault(it, facts.target)
        wrong = known[kind]
        if wrong:
            at, same = it.at / "apiVersion", successor(it, facts.target)
            at = it.at / "kind" if is_of_kind(it) else at
            edits = (Edit(Verb.REWRITE, at, same),) if same else ()
            yield Hit(RULE, f"{it}: {wrong}", at, edits=edits)


RULE = ObjectRule(
    "api-version-not-served",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write the apiVersion or kind that the finding names.",
    judges=(),
    check=check,
    fix=Fix.SAFE,
)
