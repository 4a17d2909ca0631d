"""Two flavors are for the same nodes."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.kueue.flavor_nodes import overlaps
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Their hardware is promised twice, and cohorts lend by a flavor's name, so nothing is shared.

    Flavors whose labels are neither equal nor part of each other may be of different nodes.
    Source: concepts/resource_flavor.md; issues 6586, 10659, 12949.
    """
    for it in facts.cluster.derive(overlaps):
        how = "the same nodeLabels as" if it.equal else "all the nodeLabels of"
        yield Hit(
            RULE,
            f"{it.other} has {how} {it.one}, and both have quota for {it.resource}, so the same "
            "hardware is promised twice; use one flavor, or tell the nodes apart by a label",
            it.other.at.to("spec", "nodeLabels"),
            related=(it.one.at.to("spec", "nodeLabels"),),
        )


RULE = ObjectRule(
    "flavors-overlap",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("ResourceFlavor",),
    check=check,
    reads=("ClusterQueue", "Cohort"),
)
