"""A queue borrows in one flavor before it uses its own quota in the next."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """The default, MayStopSearch, stops at the first flavor that can be borrowed.

    Source: pkg/scheduler/flavorassigner/flavorassigner.go, shouldTryNextFlavor; issues 1276, 7015.
    """
    for queue in facts.cluster.cluster_queues:
        if not queue.it.cohort_name or queue.it.flavor_fungibility.when_can_borrow != (
            "MayStopSearch"
        ):
            continue
        for group in queue.it.resource_groups:
            for first, later in zip(group.flavors, group.flavors[1:], strict=False):
                if all(quota.borrowing_limit != 0 for quota in first.resources) and any(
                    quota.nominal_quota for quota in later.resources
                ):
                    yield Hit(
                        RULE,
                        f"{queue} borrows in flavor {first.name} before it uses its own quota of "
                        f"{later.name}; write flavorFungibility.whenCanBorrow: TryNextFlavor if "
                        "its own is to come first",
                        queue.at.to("spec", "flavorFungibility", "whenCanBorrow"),
                    )
                    break


RULE = ObjectRule(
    "borrows-before-next-flavor",
    Severity.INFO,
    Family.INERT,
    __doc__,
    judges=("ClusterQueue",),
    check=check,
)
