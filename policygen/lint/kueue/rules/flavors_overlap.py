"""Two ResourceFlavors describe the same nodes, so the hardware is promised twice."""

from policygen.lint.kueue.flavor_nodes import overlaps
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The hardware is promised twice, and cohorts lend per flavor name, so it is not shared.

    Flavors of which neither has all labels of the other may describe different nodes.
    Source: concepts/resource_flavor.md; issues 6586, 10659, 12949.
    """
    for overlap in facts.cluster.derive(overlaps):
        has = "the same nodeLabels as" if overlap.equal else "all nodeLabels of"
        yield Hit(
            RULE,
            f"{overlap.other} has {has} {overlap.one}, and both have quota for {overlap.resource}, "
            "so the hardware is promised twice; use one flavor, or label the nodes differently",
            overlap.other.at.to("spec", "nodeLabels"),
            related=(overlap.one.at.to("spec", "nodeLabels"),),
        )


RULE = ObjectRule(
    "flavors-overlap",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Use one flavor for each pool, or distinguish the nodes by a label or a taint.",
    judges=("ResourceFlavor",),
    check=check,
    reads=("ClusterQueue", "Cohort"),
)
