"""The quotas of a flavor add up to more than its nodes have."""

from fractions import Fraction

from policygen.core.amounts import amount_of, readable
from policygen.kubernetes.node_groups import NATIVE
from policygen.lint.kueue.flavor_nodes import nodes
from policygen.lint.kueue.quotas import nominal_quotas
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

_NODES = 3
"""The most nodes that are related places."""


def check(facts: Facts) -> Hits:
    """Kueue admits workloads whose pods stay Pending. A Cohort's quota adds to its members'.

    Source: issues 2665, 1651, 5289.
    """
    found = facts.cluster.derive(nodes)
    for (name, resource), cells in facts.cluster.derive(nominal_quotas).items():
        flavor, own = facts.cluster.flavors.get(name), found.get(name)
        if flavor is None or own is None or not own.nodes:
            continue  # other rules report it
        total = sum(it.quota.nominal_quota for it in cells)
        have = own.total.get(resource, Fraction(0))
        if resource in NATIVE and resource not in own.total:
            continue  # every node has some, it is only not listed
        if resource != "pods" and total > have:
            yield Hit(
                RULE,
                f"the quotas of {flavor} add up to {amount_of(resource, Fraction(total), have)}, "
                f"but its nodes ({len(own.nodes)}) have {readable(resource, have, Fraction(total))}; "
                "lower nominalQuota in the ClusterQueues and Cohorts, or add nodes",
                flavor.at,
                related=(
                    *(it.at / "nominalQuota" for it in cells),
                    *(node.at for node in own.nodes[:_NODES]),
                ),
            )


RULE = ObjectRule(
    "quota-exceeds-capacity",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Lower the quotas to the capacity of the nodes, or add nodes.",
    judges=("ResourceFlavor",),
    check=check,
    needs=frozenset({Need.NODES}),
    reads=("ClusterQueue", "Cohort"),
)
