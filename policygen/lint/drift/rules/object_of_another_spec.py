"""Objects on the cluster have the label policygen.dev/set of the spec, but they are of no team of the spec: another spec probably has the same set name."""

from policygen.drift.rule_names import OF_ANOTHER_SPEC
from policygen.lint.drift.needs import KINDS, NEEDS
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Without a command to delete the objects, because another team can use them.

    Source: the labels of every rendered object.
    """
    from policygen.core.names import SET
    from policygen.drift.messages import author

    if facts.rendered is None:
        return
    for obj in facts.rendered.against(facts.cluster).strangers:
        written_by = author(obj, ("metadata", "labels", SET))
        yield Hit(
            RULE,
            f"{obj} has the label {SET}: {facts.rendered.name} ({written_by}), but it is of no team of the "
            "spec, so another spec probably has the same name of its set; write another metadata.name in "
            "the Platform of one of the two, or delete the object if a former version of this spec rendered it",
            obj.at,
        )


RULE = ObjectRule(
    OF_ANOTHER_SPEC,
    Severity.ERROR,
    Family.DRIFT,
    __doc__,
    remedy="Write another metadata.name in the Platform of one of the two specs. Delete the objects if a former "
    "version of the spec rendered them.",
    judges=KINDS,
    check=check,
    needs=NEEDS,
)
