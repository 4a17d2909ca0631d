"""A gang needs more resources at once than its Queue may use."""

from policygen.core.amounts import amount_of, readable
from policygen.kubernetes.workloads import KINDS
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import queues
from policygen.lint.volcano.gangs import gangs


def check(facts: Facts) -> Hits:
    """The gang is never enqueued, or its first pods hold GPUs forever.

    For a Job the controller writes minResources.

    Source: pkg/scheduler/plugins/capacity/capacity.go, checkJobEnqueueableHierarchically;
    volcano-sh/volcano#3220.
    """
    cluster = facts.cluster
    for gang in gangs(cluster):
        own = cluster.queues.get(gang.queue)
        if own is None:
            continue
        path = (own, *queues.ancestors(cluster, own))
        for name, amount in gang.amounts.items():
            for queue in path:
                limit = queue.fields.capability.get(name)
                unlimited = limit == 0 and name in ("cpu", "memory")
                if limit is not None and amount > limit and not unlimited:
                    number = "minMember and minResources" if gang.written else gang.at.path[-1]
                    yield Hit(
                        RULE,
                        f"{gang.owner} needs {amount_of(name, amount, limit)} at once, but "
                        f"{queue} has a capability of {readable(name, limit, amount)}, so the gang "
                        f"waits forever; lower {number}, or raise the capability",
                        gang.place(name),
                        (queue.at.to("spec", "capability", name),),
                    )
                    break


RULE = ObjectRule(
    "gang-exceeds-queue",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Shrink the gang, or raise the capability of its queue.",
    judges=("PodGroup", "Job"),
    check=check,
    reads=("Queue", *KINDS),
)
