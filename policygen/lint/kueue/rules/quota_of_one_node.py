"""The only quota of a flavor equals the capacity of one of its nodes."""

from collections import Counter
from fractions import Fraction

from policygen.core.amounts import amount_of, written
from policygen.lint.core.resource_names import extended
from policygen.lint.kueue.flavor_nodes import nodes
from policygen.lint.kueue.missing_cluster_queues import missing_cluster_queues
from policygen.lint.kueue.quotas import flavors, nominal_quotas, owners
from policygen.lint.kueue.unused_flavors import unused_flavors
from policygen.lint.rule import Edit, Facts, Family, Hit, Hits, Need, ObjectRule, Severity, Verb


def check(facts: Facts) -> Hits:
    """A quota is for all nodes of the flavor together, so the other nodes stay idle.

    Checked only if one quota of the flavor is not 0, and if no LocalQueue names a missing queue, which may have
    the rest. Source: issue 706.
    """
    if facts.derive(missing_cluster_queues):
        return
    found = facts.cluster.derive(nodes)
    listings = Counter(it.name for owner in owners(facts.cluster) for _, it in flavors(owner))
    for (name, resource), cells in facts.cluster.derive(nominal_quotas).items():
        if name not in found or not extended(resource):
            continue  # another rule reports it
        own = found[name]
        have = {size.get(resource, Fraction(0)) for size in own.sizes}
        if len(own.nodes) > 1 and len(cells) == 1 and have == {cells[0].quota.nominal_quota}:
            one = cells[0].quota.nominal_quota
            if "flavor-never-used" in facts.run and any(
                it.flavor == name for it in facts.derive(unused_flavors)
            ):
                continue  # it reports a queue without its part of the nodes
            place, enough = cells[0].at / "nominalQuota", written(resource, one * len(own.nodes))
            yield Hit(
                RULE,
                f"{cells[0].owner} has a quota of {amount_of(resource, one)} in flavor {name}, which "
                f"is the capacity of one node, but the flavor has {len(own.nodes)} nodes; write "
                f"{enough} to use all nodes",
                place,
                # If others list the flavor, the fault may be a quota of theirs.
                meant=(Edit(Verb.REWRITE, place, enough),) if listings[name] == 1 else (),
            )


RULE = ObjectRule(
    "quota-of-one-node",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Multiply the quota by the number of nodes.",
    judges=("ClusterQueue", "Cohort"),
    check=check,
    needs=frozenset({Need.NODES, Need.WHOLE}),
    reads=("ResourceFlavor", "LocalQueue", "MultiKueueConfig"),
)
