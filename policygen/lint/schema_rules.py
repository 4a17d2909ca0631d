"""The rules about what a schema refuses: one row for each reason.

A row is all that differs between these rules. Most are about faults that a spec can have too: their names
and texts are those of `spec.rules`. Some also report what a server's code or webhook refuses
for the same reason, in `core.code_refusals`. Their pages are in `pages`.
"""

from collections.abc import Callable, Iterator

from msgspec import Struct

from policygen.api_validation.refusal import Reason
from policygen.core.finding import FaultAt, Hit, dotted
from policygen.core.rule import Family, Rule, Severity
from policygen.lint.core import code_refusals
from policygen.lint.core.known_names import with_case
from policygen.lint.core.server_refusals import refusals
from policygen.lint.rule import Facts, Fix, ObjectRule, shared
from policygen.lint.volcano import hierarchy
from policygen.spec import rules as spec


class _Row(Struct, frozen=True, kw_only=True):
    """A rule about the refusals of one reason."""

    rule: Rule
    """Its name, severity and texts."""
    reason: Reason
    """The refusals that it reports."""
    family: Family = Family.INVALID
    known_releases: bool = False
    """Whether it skips kinds that may be different in the target release."""
    further: Callable[[Facts], Iterator[FaultAt]] | None = None
    """Faults that are refused for the same reason, but not by the schema."""
    fix: Fix | None = None


_ROWS = (
    _Row(
        rule=Rule(
            "crd-rule-broken",
            Severity.ERROR,
            Family.INVALID,
            "An object breaks a rule that its CRD defines in CEL",
            "Correct the fields that the finding names.",
        ),
        reason=Reason.CRD_RULE,
    ),
    _Row(rule=spec.DUPLICATE_ENTRY, reason=Reason.DUPLICATE_ENTRY, fix=Fix.SAFE),
    _Row(
        rule=Rule(
            "invalid-annotation",
            Severity.ERROR,
            Family.INVALID,
            "An annotation has a key that is not valid, or the annotations of an object are too long",
            "Correct the key that the finding names, or shorten the annotations.",
            aliases=("annotation-refused",),
        ),
        reason=Reason.ANNOTATION,
        further=code_refusals.annotations,
    ),
    _Row(
        rule=Rule(
            "every-update-refused",
            Severity.ERROR,
            Family.INERT,
            "A webhook corrects a value when the object is created, but the server refuses every update",
            "Write the value that the finding proposes.",
        ),
        reason=Reason.UPDATE,
        further=hierarchy.refused_later,
        family=Family.INERT,
    ),
    _Row(rule=spec.INVALID_LABEL, reason=Reason.LABEL, further=code_refusals.labels),
    _Row(rule=spec.INVALID_NAME, reason=Reason.NAME),
    _Row(rule=spec.INVALID_VALUE, reason=Reason.FORMAT, further=code_refusals.patterns),
    _Row(
        rule=spec.MISSING_FIELD,
        reason=Reason.MISSING_FIELD,
        further=code_refusals.missing_fields,
    ),
    _Row(rule=spec.OUT_OF_RANGE, reason=Reason.RANGE),
    _Row(
        rule=Rule(
            "server-side-apply-refused",
            Severity.WARNING,
            Family.INVALID,
            "Server-side apply refuses the object, although the server accepts it on create",
            "Remove the field or entry that the finding names.",
        ),
        reason=Reason.SERVER_SIDE_APPLY,
        fix=Fix.SAFE,
    ),
    _Row(
        rule=spec.UNKNOWN_FIELD,
        reason=Reason.UNKNOWN_FIELD,
        known_releases=True,
        fix=Fix.UNSAFE,
    ),
    _Row(
        rule=spec.UNSUPPORTED_VALUE,
        reason=Reason.VALUE,
        known_releases=True,
        fix=Fix.SAFE,
    ),
    _Row(rule=spec.WRONG_LENGTH, reason=Reason.LENGTH),
    _Row(rule=spec.WRONG_TYPE, reason=Reason.TYPE, fix=Fix.SAFE),
)


_NARROWER = {("PriorityClass", "value"): "priority-class-refused"}
"""The rules that report a smaller range of a field than its schema has, by kind and field."""


def _rule(row: _Row) -> ObjectRule:
    """The rule of a row. Source: the schemas that real servers serve, `schemas/cluster`."""

    def check(facts: Facts) -> Iterator[Hit]:
        for refusal in refusals(facts, row.reason, known_releases=row.known_releases):
            field = refusal.object.kind, dotted(refusal.at.path)
            if row.reason is Reason.RANGE and _NARROWER.get(field) in facts.run:
                continue
            message = with_case(facts.cluster, refusal)
            yield Hit(rule, message, refusal.at, edits=refusal.edits)
        for at, message in row.further(facts) if row.further else ():
            yield Hit(rule, message, at)

    rule = ObjectRule(*shared(row.rule, row.family), judges=(), check=check, fix=row.fix)
    return rule


RULES = tuple(map(_rule, _ROWS))
"""By name."""
