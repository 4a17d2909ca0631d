"""The quota of a flavor is what one of its nodes has."""

from collections.abc import Iterator
from fractions import Fraction

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.core.amounts import shown
from policygen.lint.core.resource_names import extended
from policygen.lint.kueue.flavor_nodes import nodes
from policygen.lint.kueue.quotas import promised
from policygen.lint.rule import Facts, Family, Need, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """A quota is of the whole pool and not of a node, so the other nodes stay empty.

    Judged where a single quota of the flavor is not zero. Source: issue 706.
    """
    found = facts.cluster.derive(nodes)
    for (name, resource), them in facts.cluster.derive(promised).items():
        if name not in found or not extended(resource):
            continue  # another rule's
        mine = found[name]
        have = {size.get(resource, Fraction(0)) for size in mine.sizes}
        if len(mine.nodes) > 1 and len(them) == 1 and have == {them[0].quota.nominal_quota}:
            amount = shown(resource, them[0].quota.nominal_quota)
            yield Hit(
                RULE,
                f"{them[0].owner} has {amount} {resource} of flavor {name}, which is one of its "
                f"{len(mine.nodes)} nodes; nominalQuota is for all of them together",
                them[0].at / "nominalQuota",
            )


RULE = ObjectRule(
    "quota-of-one-node",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("ClusterQueue", "Cohort"),
    check=check,
    needs=frozenset({Need.NODES, Need.WHOLE}),
    reads=("Node", "ResourceFlavor"),
)
