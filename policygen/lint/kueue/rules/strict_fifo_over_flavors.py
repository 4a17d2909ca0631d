"""A StrictFIFO queue has several flavors, so one waiting job blocks the jobs of all flavors."""

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """A job at the head that waits for one flavor blocks jobs that fit another.

    Source: concepts/cluster_queue.md; issues 4809, 8309.
    """
    for queue in facts.cluster.cluster_queues:
        if queue.fields.queueing_strategy != "StrictFIFO":
            continue
        flavors = [len(group.flavors) for group in queue.fields.resource_groups]
        if any(count > 1 for count in flavors):
            yield Hit(
                RULE,
                f"{queue} is StrictFIFO and has several flavors, so a job that waits for one "
                "flavor blocks jobs for the other flavors; write BestEffortFIFO, or use one queue per flavor",
                queue.at.to("spec", "queueingStrategy"),
            )


RULE = ObjectRule(
    "strict-fifo-over-flavors",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Use BestEffortFIFO, or one queue per flavor.",
    judges=("ClusterQueue",),
    check=check,
)
