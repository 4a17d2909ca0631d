"""A gang needs more at once than its queue may use."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.amounts import shown
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.volcano import queues
from policygen.lint.volcano.gangs import gangs


def check(facts: Facts) -> Iterator[Hit]:
    """It is never enqueued, or its first pods hold GPUs for ever. A job's controller writes minResources.

    Source: pkg/scheduler/plugins/capacity/capacity.go, checkJobEnqueueableHierarchically;
    volcano-sh/volcano#3220.
    """
    cluster = facts.cluster
    for gang in gangs(cluster):
        queue = cluster.queues.get(gang.queue)
        if queue is None:
            continue
        above = (queue, *queues.ancestors(cluster, queue))
        for name, amount in gang.amounts.items():
            for each in above:
                limit = each.it.capability.get(name)
                free = limit == 0 and name in ("cpu", "memory")  # 0 is no limit
                if limit is not None and amount > limit and not free:
                    number = "minMember and minResources" if gang.written else gang.at.path[-1]
                    yield Hit(
                        RULE,
                        f"{gang.what} needs {shown(name, amount)} {name} at once, and {each} may use "
                        f"{shown(name, limit)}: it waits for ever; lower {number}, or raise the "
                        "capability",
                        gang.place(name),
                        (each.at.to("spec", "capability", name),),
                    )
                    break


RULE = ObjectRule(
    "gang-exceeds-queue",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("PodGroup", "Job"),
    check=check,
    reads=("Queue", *KINDS),
)
