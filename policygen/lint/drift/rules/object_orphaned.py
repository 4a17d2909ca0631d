"""An object on the cluster has the labels app.kubernetes.io/managed-by: policygen and policygen.dev/set of the spec, but the spec no longer renders the object."""

from policygen.drift.rule_names import ORPHANED
from policygen.lint.drift.needs import KINDS, NEEDS
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Skips Namespaces: removing a team must not delete its data.

    Source: the labels of every rendered object.
    """
    from policygen.core.names import SET
    from policygen.drift.messages import author

    if facts.rendered is None:
        return
    for obj in facts.rendered.against(facts.cluster).orphans:
        written_by = author(obj, ("metadata", "labels", SET))
        yield Hit(
            RULE,
            f"{obj} has the label {SET}: {facts.rendered.name} ({written_by}), but the spec does not render this object; "
            "delete the object if nothing uses it, or add it to the spec; if another spec renders it, write another "
            "metadata.name in the Platform of one of the two",
            obj.at,
        )


RULE = ObjectRule(
    ORPHANED,
    Severity.ERROR,
    Family.DRIFT,
    __doc__,
    remedy="Delete the object if nothing uses it, or add it to the spec. If another spec renders it, write "
    "another metadata.name in the Platform of one of the two.",
    judges=KINDS,
    check=check,
    needs=NEEDS,
)
