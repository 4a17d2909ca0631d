"""A ClusterQueue borrows in one flavor before it uses its own quota in the next flavor."""

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
                if all(quota.borrowing_limit != 0 for quota in first.resources) and any(
                    quota.nominal_quota for quota in later.resources
                ):
                    yield Hit(
                        RULE,
                        f"{queue} borrows in flavor {first.name} before it uses its own quota in "
                        f"flavor {later.name}; write flavorFungibility.whenCanBorrow: "
                        "TryNextFlavor to use its own quota first",
                        queue.at.to("spec", "flavorFungibility", "whenCanBorrow"),
                    )
                    break


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
)
