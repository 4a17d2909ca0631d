"""A LocalQueue names a ClusterQueue that does not exist."""

from policygen.core.suggest import suggest
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue reports ClusterQueueDoesNotExist and leaves the jobs suspended.

    Source: pkg/controller/core/localqueue_controller.go.
    """
    known = facts.cluster.cluster_queues
    for queue in facts.cluster.local_queues:
        name = queue.fields.cluster_queue
        at = queue.at.to("spec", "clusterQueue")
        if not name:
            yield Hit(RULE, f"{queue} names no ClusterQueue; write spec.clusterQueue", at)
        elif not known.knows(name):
            yield Hit(
                RULE,
                f'{queue} names ClusterQueue "{name}", which does not exist; '
                f"{suggest(name, known.names(), 'ClusterQueue')}",
                at,
            )


RULE = ObjectRule(
    "local-queue-without-cluster-queue",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Name an existing ClusterQueue, or create the missing one.",
    judges=("LocalQueue",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("ClusterQueue",),
)
