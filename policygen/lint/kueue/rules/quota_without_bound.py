"""A quota is more than any cluster has."""

from collections.abc import Iterator
from fractions import Fraction

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.core.amounts import shown
from policygen.lint.core.resource_names import extended
from policygen.lint.kueue.quotas import Placed, owners_alike, where
from policygen.lint.rule import Facts, Family, ObjectRule

_MOST = {"cpu": Fraction(10**6), "memory": Fraction(2**60), "ephemeral-storage": Fraction(2**60)}
_DEVICES = Fraction(10**6)


def check(facts: Facts) -> Iterator[Hit]:
    """It binds nothing, so that pods wait instead of workloads; past 64 bits it was read as 0.

    Where a Topology counts the nodes, such a quota is a known way to leave the counting to it.
    Source: pkg/resources/amount.go; issue 9843.
    """
    for it in where(facts.cluster.derive(owners_alike), _is_no_bound):
        flavor = facts.cluster.flavors.get(it.flavor)
        if flavor is not None and flavor.it.topology_name:
            continue
        amount = shown(it.resource, it.quota.nominal_quota)
        yield Hit(
            RULE,
            f"{it.owner} has {amount} {it.resource} of flavor {it.flavor}, which is no bound; "
            "write what the nodes have",
            it.at / "nominalQuota",
        )


def _is_no_bound(it: Placed) -> bool:
    most = _MOST.get(it.resource, _DEVICES if extended(it.resource) else None)
    return most is not None and it.quota.nominal_quota >= most


RULE = ObjectRule(
    "quota-without-bound",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("ClusterQueue", "Cohort"),
    check=check,
    reads=("ResourceFlavor",),
)
