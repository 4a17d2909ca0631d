"""A quota is larger than any cluster, so it limits nothing."""

from fractions import Fraction

from policygen.core.amounts import amount_of
from policygen.lint.core.resource_names import extended
from policygen.lint.kueue.quotas import PlacedQuota, every_quota, owners
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_MOST = {"cpu": Fraction(10**6), "memory": Fraction(2**60), "ephemeral-storage": Fraction(2**60)}
_DEVICES = Fraction(10**6)


def check(facts: Facts) -> Hits:
    """It limits nothing, so pods wait instead of workloads; above 64 bits it was read as 0.

    With a Topology such a quota is a known way to let the nodes alone limit admission.
    Source: pkg/resources/amount.go; issue 9843.
    """
    for placed in filter(_is_unlimited, every_quota(owners(facts.cluster))):
        flavor = facts.cluster.flavors.get(placed.flavor)
        if flavor is not None and flavor.fields.topology_name:
            continue
        amount = amount_of(placed.resource, placed.quota.nominal_quota)
        yield Hit(
            RULE,
            f"{placed.owner} has a quota of {amount} in flavor {placed.flavor}, which limits "
            "nothing; write the capacity of the nodes as nominalQuota",
            placed.at / "nominalQuota",
        )


def _is_unlimited(placed: PlacedQuota) -> bool:
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
    reads=("ResourceFlavor",),
    aliases=("quota-without-bound",),
)
