"""A gang does not say what it needs, so it is let in whether or not it fits."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.volcano import queues
from policygen.lint.volcano.configuration import settings


def check(facts: Facts) -> Iterator[Hit]:
    """Only where jobs are enqueued and the queue is known to have a limit.

    Source: pkg/scheduler/plugins/capacity/capacity.go, AddJobEnqueueableFn.
    """
    configuration = settings(facts)
    if configuration is not None and "enqueue" not in configuration.actions:
        return
    for group in facts.cluster.pod_groups:
        queue = queues.queue_of(facts.cluster, group)
        if queue is None or not queue.it.capability:
            continue
        if group.it.min_resources is None and group.it.min_member > 1:
            yield Hit(
                RULE,
                f"{group} has no minResources, so it is enqueued though {queue} may be full, and "
                f"its pods wait there one by one; write what {group.it.min_member} pods ask for",
                group.at / "spec",
                (queue.at,),
            )


RULE = ObjectRule(
    "gang-without-min-resources",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("PodGroup",),
    check=check,
    reads=("Queue", "volcano-scheduler.conf"),
)
