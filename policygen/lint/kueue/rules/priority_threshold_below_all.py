"""A queue may preempt while it borrows, but only priorities that nobody has."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.kueue.priorities import default, values
from policygen.lint.rule import Facts, Family, Need, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Victims must have a priority of maxPriorityThreshold at most.

    Source: apis/kueue/v1beta2/clusterqueue_types.go, BorrowWithinCohort.
    """
    lowest = min(values(facts.cluster) | {default(facts.cluster)})
    for queue in facts.cluster.cluster_queues:
        borrow = queue.it.preemption.borrow_within_cohort if queue.it.preemption else None
        if borrow is None or borrow.policy == "Never" or borrow.max_priority_threshold is None:
            continue
        if borrow.max_priority_threshold < lowest:
            yield Hit(
                RULE,
                f"{queue} has maxPriorityThreshold {borrow.max_priority_threshold}, and no "
                f"workload has a priority below {lowest}, so borrowing never preempts; raise it",
                queue.at.to("spec", "preemption", "borrowWithinCohort", "maxPriorityThreshold"),
            )


RULE = ObjectRule(
    "priority-threshold-below-all",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("ClusterQueue",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("WorkloadPriorityClass", "PriorityClass"),
)
