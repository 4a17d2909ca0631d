"""maxPriorityThreshold is below every priority, so a borrowing queue preempts nothing."""

from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue_jobs import PRIORITY, labels, queued
from policygen.kubernetes.priorities import default, values
from policygen.kubernetes.workloads import KINDS
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """A workload can be preempted only if its priority is at most maxPriorityThreshold.

    Source: apis/kueue/v1beta2/clusterqueue_types.go, BorrowWithinCohort.
    """
    classed, known = _have_class(facts.cluster), values(facts.cluster)
    lowest = min(known if known and classed else known | {default(facts.cluster)})
    each = "lowest priority class has" if known and classed else "lowest priority is"
    for queue in facts.cluster.cluster_queues:
        borrow = queue.fields.preemption.borrow_within_cohort if queue.fields.preemption else None
        if borrow is None or borrow.policy == "Never" or borrow.max_priority_threshold is None:
            continue
        if borrow.max_priority_threshold < lowest:
            yield Hit(
                RULE,
                f"{queue} has maxPriorityThreshold {borrow.max_priority_threshold}, but the "
                f"{each} {lowest}, so it never preempts while borrowing; write {lowest} or more",
                queue.at.to("spec", "preemption", "borrowWithinCohort", "maxPriorityThreshold"),
            )


def _have_class(cluster: Cluster) -> bool:
    """Whether there are jobs in queues, and each has a priority class, so that none has the default."""
    jobs = cluster.derive(queued)
    return bool(jobs) and all(
        PRIORITY in labels(job.workload)
        or any(it.spec.priority_class_name for it in job.workload.templates)
        for job in jobs
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
    reads=("WorkloadPriorityClass", "PriorityClass", "LocalQueue", "ClusterQueue", *KINDS),
)
