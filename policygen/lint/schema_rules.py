"""The rules about what a schema refuses: one row for each reason.

A row is all that differs between these rules. Four also report what a server's code or webhook refuses
for the same reason, in `core.code_refusals`. Their pages are in `pages`.
"""

from collections.abc import Callable, Iterator

from msgspec import Struct

from policygen.api_validation.refusal import Reason
from policygen.core.finding import Hit
from policygen.core.rule import Family, Severity
from policygen.lint.core import code_refusals
from policygen.lint.core.code_refusals import Fault
from policygen.lint.core.server_refusals import refusals
from policygen.lint.rule import Facts, Fix, ObjectRule


class _Row(Struct, frozen=True, kw_only=True):
    """A rule about the refusals of one reason."""

    name: str
    severity: Severity = Severity.ERROR
    summary: str
    remedy: str
    reason: Reason
    """The refusals that it reports."""
    known_releases: bool = False
    """Whether it skips kinds that may be different in the target release."""
    further: Callable[[Facts], Iterator[Fault]] | None = None
    """Faults that are refused for the same reason, but not by the schema."""
    fix: Fix | None = None


_ROWS = (
    _Row(
        name="annotation-refused",
        summary="An annotation has a key that is not valid, or annotations are too long",
        remedy="Correct the key that the finding names, or shorten the annotations.",
        reason=Reason.ANNOTATION,
        further=code_refusals.annotations,
    ),
    _Row(
        name="crd-rule-broken",
        summary="An object breaks a rule that its CRD defines in CEL",
        remedy="Correct the fields that the finding names.",
        reason=Reason.CRD_RULE,
    ),
    _Row(
        name="field-missing",
        summary="A required field is missing",
        remedy="Write the field that the finding names.",
        reason=Reason.MISSING_FIELD,
        further=code_refusals.missing_fields,
    ),
    _Row(
        name="field-unknown",
        summary="A field has a name that its kind does not have",
        remedy="Correct the name or the indentation of the field.",
        reason=Reason.UNKNOWN_FIELD,
        known_releases=True,
        fix=Fix.UNSAFE,
    ),
    _Row(
        name="label-refused",
        summary="A label has a key or a value that is not valid",
        remedy="Correct the label that the finding names.",
        reason=Reason.LABEL,
        further=code_refusals.labels,
    ),
    _Row(
        name="length-refused",
        summary="A string or a list is longer or shorter than its field allows",
        remedy="Keep to the bounds that the finding names.",
        reason=Reason.LENGTH,
    ),
    _Row(
        name="list-entry-twice",
        summary="A list has two entries with the same key",
        remedy="Remove one of the entries, or correct its key.",
        reason=Reason.DUPLICATE_ENTRY,
        fix=Fix.SAFE,
    ),
    _Row(
        name="name-refused",
        summary="An object has no name, or a name that is not valid for its kind",
        remedy="Write a name that the kind allows.",
        reason=Reason.NAME,
    ),
    _Row(
        name="number-out-of-range",
        summary="A number is outside the bounds of its field",
        remedy="Keep to the bounds that the finding names.",
        reason=Reason.RANGE,
    ),
    _Row(
        name="type-refused",
        summary="A field has a value of a wrong type",
        remedy="Write the type that the finding names.",
        reason=Reason.TYPE,
        fix=Fix.SAFE,
    ),
    _Row(
        name="value-form-refused",
        summary="A string does not have the format of its field",
        remedy="Write a value of the format that the finding names.",
        reason=Reason.FORMAT,
        further=code_refusals.patterns,
    ),
    _Row(
        name="value-unsupported",
        summary="A field has a value that is not in its list of values",
        remedy="Write one of the values that the finding names.",
        reason=Reason.VALUE,
        known_releases=True,
        fix=Fix.SAFE,
    ),
)


def _rule(row: _Row) -> ObjectRule:
    """The rule of a row. Source: the schemas that real servers serve, `schemas/cluster`."""

    def check(facts: Facts) -> Iterator[Hit]:
        for it in refusals(facts, row.reason, known_releases=row.known_releases):
            yield Hit(rule, it.message, it.at, edits=it.edits)
        for message, at in row.further(facts) if row.further else ():
            yield Hit(rule, message, at)

    rule = ObjectRule(
        row.name,
        row.severity,
        Family.INVALID,
        row.summary,
        remedy=row.remedy,
        judges=(),
        check=check,
        fix=row.fix,
    )
    return rule


RULES = tuple(map(_rule, _ROWS))
"""By name."""
