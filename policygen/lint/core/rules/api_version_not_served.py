"""An object has an apiVersion or kind that the target API server does not serve."""

from policygen.lint.core.api_versions import fault, is_of_kind, successor
from policygen.lint.core.kind_names import wrong_kind
from policygen.lint.rule import Edit, Facts, Family, Fix, Hit, Hits, ObjectRule, Severity, Verb


def check(facts: Facts) -> Hits:
    """The API server answers 404. Source: what running servers serve, `schemas/cluster`."""
    known: dict[tuple[str, str], str | None] = {}  # by apiVersion and kind
    for obj in facts.cluster.objects:
        kind, wrong = (obj.api_version, obj.kind), wrong_kind(obj)
        if kind not in known:
            known[kind] = fault(obj, facts.target)
        message = wrong.message if wrong else known[kind]
        if message:
            at, current = obj.at / "apiVersion", successor(obj, facts.target)
            at = obj.at / "kind" if is_of_kind(obj) else at
            edits = (Edit(Verb.REWRITE, at, current),) if current else ()
            yield Hit(RULE, f"{obj}: {message}", at, edits=edits)


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
