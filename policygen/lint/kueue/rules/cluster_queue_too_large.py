"""A ClusterQueue has more flavors, resources or pairs of both than Kueue accepts."""

from collections.abc import Iterator

from policygen.core.finding import Fault
from policygen.core.versions import KUEUE_GROUP_CELLS, KUEUE_QUEUE_ITEMS
from policygen.kubernetes.kueue import ResourceGroup
from policygen.lint.kueue.quotas import groups_at
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The schema limits each list, but not their sums. Kueue does not check the sums of Cohorts.

    Source: pkg/webhooks/clusterqueue_webhook.go, validateResourceGroups, from 0.14 on.
    """
    for queue in facts.cluster.cluster_queues:
        for steps, fault in _faults(queue.it.resource_groups):
            at = groups_at(queue, *steps)
            yield Hit(RULE, f"{queue} has {fault}; split the queue", at)


def _faults(groups: tuple[ResourceGroup, ...]) -> Iterator[Fault]:
    """Each limit that is exceeded: a path below `resourceGroups`, and the count with its limit."""
    sums = {
        "flavors": sum(len(group.flavors) for group in groups),
        "covered resources": sum(len(group.covered_resources) for group in groups),
    }
    for what, count in sums.items():
        if count > KUEUE_QUEUE_ITEMS:
            yield (), f"{count} {what}, but Kueue accepts at most {KUEUE_QUEUE_ITEMS}"
    for i, group in enumerate(groups):
        count = len(group.flavors) * len(group.covered_resources)
        if count > KUEUE_GROUP_CELLS:
            yield (
                (i,),
                f"{count} pairs of a flavor and a resource in one group, but Kueue accepts at most {KUEUE_GROUP_CELLS}",
            )


RULE = ObjectRule(
    "cluster-queue-too-large",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Split the ClusterQueue, or cover fewer resources.",
    judges=("ClusterQueue",),
    check=check,
    since={"kueue": (0, 14)},
)
