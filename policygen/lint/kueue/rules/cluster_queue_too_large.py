"""A ClusterQueue has too many flavors, resources, or flavor-resource pairs for Kueue."""

from policygen.core.versions import KUEUE_GROUP_CELLS, KUEUE_QUEUE_ITEMS
from policygen.lint.kueue.quotas import groups_at
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The schema limits each list, but not their sums. Kueue does not check the sums of Cohorts.

    Source: pkg/webhooks/clusterqueue_webhook.go, validateResourceGroups, from 0.14 on.
    """
    for queue in facts.cluster.cluster_queues:
        groups = queue.fields.resource_groups
        sums = {
            "flavors": sum(len(group.flavors) for group in groups),
            "resources": sum(len(group.covered_resources) for group in groups),
        }
        for what, count in sums.items():
            if count > KUEUE_QUEUE_ITEMS:
                yield Hit(
                    RULE,
                    f"{queue} has {count} {what}, but Kueue accepts at most {KUEUE_QUEUE_ITEMS}; "
                    "split the queue",
                    groups_at(queue),
                )
        for i, group in enumerate(groups):
            count = len(group.flavors) * len(group.covered_resources)
            if count > KUEUE_GROUP_CELLS:
                yield Hit(
                    RULE,
                    f"{queue} has {count} pairs of a flavor and a resource in one group, but Kueue "
                    f"accepts at most {KUEUE_GROUP_CELLS}; split the queue",
                    groups_at(queue, i),
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
