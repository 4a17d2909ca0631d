"""A field of an object on the cluster differs from what the spec renders."""

from typing import TYPE_CHECKING

from policygen.drift.rule_names import CHANGED
from policygen.lint.drift.needs import KINDS, NEEDS, kubectl_of
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

if TYPE_CHECKING:  # imported only for live clusters
    from policygen.drift.compare import FieldDifference
    from policygen.drift.drift import Changed, Rendered


def check(facts: Facts) -> Hits:
    """Compares every field under `spec` and similar fields, and only rendered fields of metadata.

    Source: design.md, Linting; authors from apimachinery's managedFields.
    """
    if facts.rendered is None:
        return
    for changed in facts.rendered.against(facts.cluster).changed:
        for difference in changed.fields:
            yield _hit(facts, facts.rendered, changed, difference)


def _hit(
    facts: Facts, rendered: "Rendered", changed: "Changed", difference: "FieldDifference"
) -> Hit:
    from policygen.drift.immutable import refusal
    from policygen.drift.messages import message as described
    from policygen.drift.patch_forms import at
    from policygen.drift.patches import patch_command

    expected, found = changed.expected, changed.found
    message = described(difference, found, at(expected.data, difference.source))
    command = ""
    if changed.older:
        message += (
            f"; the cluster serves this object only as {changed.older}, so no patch "
            f"can use {expected.object.version}; first set target in the Platform to the release of the cluster"
        )
    elif refused := refusal(found.data, difference):
        message += (
            f"; the server refuses this change, because {refused.why}; delete the object and "
            "create it again"
        )
    else:
        command = patch_command(expected.object, found, difference, kubectl_of(facts))
    origin = rendered.origin(expected, difference.source)
    return Hit(
        RULE, message, found.at.to(*difference.path), (origin,) if origin else (), command=command
    )


RULE = ObjectRule(
    CHANGED,
    Severity.ERROR,
    Family.DRIFT,
    __doc__,
    remedy="Apply the spec again, or change the spec if the cluster is right.",
    judges=KINDS,
    check=check,
    needs=NEEDS,
)
