"""A PodGroup has no minResources, so Volcano admits the PodGroup even if its Queue is full."""

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import queues
from policygen.lint.volcano.configuration import settings


def check(facts: Facts) -> Hits:
    """Only if the scheduler enqueues jobs and the queue has a known limit.

    Source: pkg/scheduler/plugins/capacity/capacity.go, AddJobEnqueueableFn.
    """
    configuration = settings(facts)
    if configuration is not None and "enqueue" not in configuration.actions:
        return
    for group in facts.cluster.pod_groups:
        queue = queues.queue_of(facts.cluster, group)
        if queue is None or not queue.fields.capability:
            continue
        if group.fields.min_resources is None and group.fields.min_member > 1:
            yield Hit(
                RULE,
                f"{group} has no minResources, so Volcano admits the gang even if {queue} is full. The pods of the gang then wait; set minResources to the requests of "
                f"{group.fields.min_member} pods",
                group.at / "spec",
                (queue.at,),
            )


RULE = ObjectRule(
    "gang-without-min-resources",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Set minResources to the requests of minMember pods.",
    judges=("PodGroup",),
    check=check,
    reads=("Queue", "volcano-scheduler.conf"),
)
