"""A ClusterQueue has more flavors than its status can list, so Kueue never updates the status."""

import math

from policygen.core.versions import KUEUE_QUEUE_ITEMS
from policygen.lint.kueue.quotas import groups_at
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The status lists 64 flavors, 16 before 0.14. `cluster-queue-too-large` reports refused sizes.

    Source: config/components/crd/bases/kueue.x-k8s.io_clusterqueues.yaml. Not an error, because the
    queue still admits workloads.
    """
    counted = facts.target["kueue"].release >= (0, 14)
    most, refused = (64, KUEUE_QUEUE_ITEMS) if counted else (16, math.inf)
    for queue in facts.cluster.cluster_queues:
        count = sum(len(group.flavors) for group in queue.fields.resource_groups)
        if most < count <= refused:
            yield Hit(
                RULE,
                f"{queue} has {count} flavors, but its status can list at most {most}, so Kueue "
                "never updates the status; split the queue",
                groups_at(queue),
            )


RULE = ObjectRule(
    "too-many-flavors-for-status",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Split the queue into several queues.",
    judges=("ClusterQueue",),
    check=check,
)
