"""Two ResourceFlavors describe the same nodes, so their quotas count these nodes twice."""

from policygen.lint.kueue.flavor_nodes import overlaps
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The hardware is promised twice, and cohorts lend per flavor name, so it is not shared.

    Flavors of which neither has all labels of the other may describe different nodes.
    Source: concepts/resource_flavor.md; issues 6586, 10659, 12949.
    """
    for overlap in facts.cluster.derive(overlaps):
        overlapping = (
            f"{overlap.other} has the same nodeLabels as {overlap.one}"
            if overlap.equal
            else f"{overlap.other} has all nodeLabels of {overlap.one}"
        )
        wrong, remedy = overlap.other, "use one flavor, or label the nodes differently"
        if overlap.misplaced is not None:
            wrong, taint = overlap.misplaced
            remedy = f"write the labels of the nodes with taint {taint} in nodeLabels of {wrong}"
        other = overlap.one if wrong is overlap.other else overlap.other
        yield Hit(
            RULE,
            f"{overlapping}, and both flavors have quota for {overlap.resource}, so the quotas count "
            f"the same nodes twice; {remedy}",
            wrong.at.to("spec", "nodeLabels"),
            related=(other.at.to("spec", "nodeLabels"),),
        )


RULE = ObjectRule(
    "flavors-overlap",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Use one flavor for each pool of nodes, or distinguish the nodes by a label or a taint.",
    judges=("ResourceFlavor",),
    check=check,
    reads=("ClusterQueue", "Cohort", "Node"),
)
