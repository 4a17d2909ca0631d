"""A ClusterQueue borrows in one flavor before it uses its own quota in the next flavor."""

from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue import FlavorQuotas
from policygen.lint.kueue.quotas import nominal_quotas
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The default, MayStopSearch, stops at the first flavor in which the queue can borrow.

    Source: pkg/scheduler/flavorassigner/flavorassigner.go, shouldTryNextFlavor; issues 1276, 7015.
    """
    for queue in facts.cluster.cluster_queues:
        if not queue.fields.cohort_name or queue.fields.flavor_fungibility.when_can_borrow != (
            "MayStopSearch"
        ):
            continue
        for group in queue.fields.resource_groups:
            for first, later in zip(group.flavors, group.flavors[1:], strict=False):
                can_borrow = all(quota.borrowing_limit != 0 for quota in first.resources)
                if can_borrow and _compete(facts.cluster, first.name, later):
                    yield Hit(
                        RULE,
                        f"{queue} borrows in flavor {first.name} before it uses its own quota in "
                        f"flavor {later.name}; write flavorFungibility.whenCanBorrow: "
                        "TryNextFlavor to use its own quota first",
                        queue.at.to("spec", "flavorFungibility", "whenCanBorrow"),
                    )
                    break


def _compete(cluster: Cluster, first: str, later: FlavorQuotas) -> bool:
    """Whether a workload can use the first flavor as well as the queue's own quota of a later one.

    Accelerators decide, if the queue has quota of some: a flavor of MIG instances does not replace one of cards.
    """
    own = [quota.name for quota in later.resources if quota.nominal_quota]
    needed = [name for name in own if is_one(name)] or own
    known = cluster.derive(nominal_quotas)
    return any((first, name) in known for name in needed)


RULE = ObjectRule(
    "borrows-before-next-flavor",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy=(
        "Write flavorFungibility.whenCanBorrow: TryNextFlavor to use the queue's own quota first."
    ),
    judges=("ClusterQueue",),
    check=check,
    reads=("Cohort",),
)
