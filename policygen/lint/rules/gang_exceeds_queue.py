"""A gang needs more at once than its queue may use."""

from collections.abc import Iterator

from policygen.finding import Severity
from policygen.lint import volcano_queues
from policygen.lint.amounts import shown
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """It is never enqueued, or its first pods hold GPUs for ever.

    Source: pkg/scheduler/plugins/capacity/capacity.go, checkJobEnqueueableHierarchically;
    volcano-sh/volcano#3220.
    """
    cluster = facts.cluster
    for group in cluster.pod_groups:
        queue = cluster.queues.get(group.it.queue or volcano_queues.DEFAULT)
        if queue is None:
            continue
        above = (queue, *volcano_queues.ancestors(cluster, queue))
        for name, amount in (group.it.min_resources or {}).items():
            for each in above:
                limit = each.it.capability.get(name)
                free = limit == 0 and name in ("cpu", "memory")  # 0 is no limit
                if limit is not None and amount > limit and not free:
                    yield Claim(
                        f"{group} needs {shown(name, amount)} {name} at once, and {each} may use "
                        f"{shown(name, limit)}: it waits for ever; lower minMember and "
                        "minResources, or raise the capability",
                        group.at.to("spec", "minResources", name),
                        (each.at.to("spec", "capability", name),),
                    )
                    break


RULE = Rule(
    "gang-exceeds-queue",
    Severity.ERROR,
    Family.INERT,
    judges=("PodGroup",),
    check=check,
    reads=("Queue",),
)
