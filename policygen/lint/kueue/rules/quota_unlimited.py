"""A quota is larger than any cluster, so it limits nothing."""

from fractions import Fraction

from policygen.core.amounts import amount_of
from policygen.core.amounts import written as quantity
from policygen.lint.core.resource_names import extended
from policygen.lint.kueue.flavor_nodes import nodes
from policygen.lint.kueue.quotas import PlacedQuota, every_quota, left_of, nominal_quotas, owners
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity, written

_MOST = {"cpu": Fraction(10**6), "memory": Fraction(2**60), "ephemeral-storage": Fraction(2**60)}
_DEVICES = Fraction(10**6)


def check(facts: Facts) -> Hits:
    """It limits nothing, so pods wait instead of workloads; above 64 bits it was read as 0.

    With a Topology such a quota is a known way to let the nodes alone limit admission.
    Source: pkg/resources/amount.go; issue 9843.
    """
    for placed in filter(is_unlimited, every_quota(owners(facts.cluster))):
        flavor = facts.cluster.flavors.get(placed.flavor)
        if flavor is not None and flavor.fields.topology_name:
            continue
        amount = amount_of(placed.resource, placed.quota.nominal_quota)
        yield Hit(
            RULE,
            f"{placed.owner} has a quota of {amount} in flavor {placed.flavor}, which limits "
            "nothing; write the capacity of the nodes as nominalQuota",
            placed.at / "nominalQuota",
            meant=written(placed.at / "nominalQuota", _meant(facts, placed)),
        )


def _meant(facts: Facts, placed: PlacedQuota) -> str:
    """What the other quotas leave of the nodes of the flavor; empty if these have none."""
    own = facts.cluster.derive(nodes).get(placed.flavor)
    have = own.total.get(placed.resource, Fraction(0)) if own else Fraction(0)
    every = facts.cluster.derive(nominal_quotas)[placed.flavor, placed.resource]
    others = sum((it.quota.nominal_quota for it in every if not is_unlimited(it)), Fraction(0))
    return quantity(placed.resource, left_of(have, others)) if have else ""


def is_unlimited(placed: PlacedQuota) -> bool:
    """Whether a quota is larger than any cluster."""
    most = _MOST.get(placed.resource, _DEVICES if extended(placed.resource) else None)
    return most is not None and placed.quota.nominal_quota >= most


RULE = ObjectRule(
    "quota-unlimited",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the capacity of the nodes as nominalQuota.",
    judges=("ClusterQueue", "Cohort"),
    check=check,
    reads=("Node", "ResourceFlavor"),
    aliases=("quota-without-bound",),
)
