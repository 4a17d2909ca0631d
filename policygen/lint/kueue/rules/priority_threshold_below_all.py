"""maxPriorityThreshold is below every priority, so a borrowing queue preempts nothing."""

from policygen.kubernetes.priorities import default, values
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """A workload can be preempted only if its priority is at most maxPriorityThreshold.

    Source: apis/kueue/v1beta2/clusterqueue_types.go, BorrowWithinCohort.
    """
    lowest = min(values(facts.cluster) | {default(facts.cluster)})
    for queue in facts.cluster.cluster_queues:
        borrow = queue.fields.preemption.borrow_within_cohort if queue.fields.preemption else None
        if borrow is None or borrow.policy == "Never" or borrow.max_priority_threshold is None:
            continue
        if borrow.max_priority_threshold < lowest:
            yield Hit(
                RULE,
                f"{queue} has maxPriorityThreshold {borrow.max_priority_threshold}, but the "
                f"lowest priority is {lowest}, so it never preempts while borrowing; write "
                f"{lowest} or more",
                queue.at.to("spec", "preemption", "borrowWithinCohort", "maxPriorityThreshold"),
            )


RULE = ObjectRule(
    "priority-threshold-below-all",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Raise maxPriorityThreshold to the highest priority that may be preempted.",
    judges=("ClusterQueue",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("WorkloadPriorityClass", "PriorityClass"),
)
