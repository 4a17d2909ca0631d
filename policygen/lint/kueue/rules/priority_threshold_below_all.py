"""maxPriorityThreshold is below every priority, so a borrowing queue preempts nothing."""

from collections.abc import Set as AbstractSet
from typing import NamedTuple

from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue_jobs import PRIORITY, labels, queued
from policygen.kubernetes.priorities import default, values
from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.cohorts import CohortNode, forest
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """A workload can be preempted only if its priority is at most maxPriorityThreshold, for quota that it uses.

    Source: apis/kueue/v1beta2/clusterqueue_types.go, BorrowWithinCohort; pkg/scheduler/preemption/classical.
    """
    known, every = values(facts.cluster), default(facts.cluster)
    trees = facts.cluster.derive(forest)
    for queue in facts.cluster.cluster_queues:
        borrow = queue.fields.preemption.borrow_within_cohort if queue.fields.preemption else None
        if borrow is None or borrow.policy == "Never" or borrow.max_priority_threshold is None:
            continue
        classed = bool(known) and _have_class(facts.cluster.derive(_jobs), trees.queues[queue.name])
        lowest = min(known if classed else known | {every})
        each = "lowest priority class has" if classed else "lowest priority is"
        if borrow.max_priority_threshold < lowest:
            yield Hit(
                RULE,
                f"{queue} has maxPriorityThreshold {borrow.max_priority_threshold}, but the "
                f"{each} {lowest}, so it never preempts while borrowing; write {lowest} or more",
                queue.at.to("spec", "preemption", "borrowWithinCohort", "maxPriorityThreshold"),
            )


class _Jobs(NamedTuple):
    """The ClusterQueues with queued jobs, by name; None: the queue is unknown."""

    every: AbstractSet[str | None]
    without_class: AbstractSet[str | None]
    """Those with a job that has the default priority."""


def _jobs(cluster: Cluster) -> _Jobs:
    """The queues with jobs; use it with `cluster.derive`."""
    every, without = set[str | None](), set[str | None]()
    for job in cluster.derive(queued):
        queue = job.cluster_queue.name if job.cluster_queue else None
        every.add(queue)
        if PRIORITY not in labels(job.workload) and not any(
            it.spec.priority_class_name for it in job.workload.templates
        ):
            without.add(queue)
    return _Jobs(every, without)


def _have_class(jobs: _Jobs, node: CohortNode) -> bool:
    """Whether the queues that share a flavor with a queue have jobs, and each has a priority class."""
    queues = (node,) if node.cyclic else node.root().queues()
    near = {it.name for it in queues if it.quotas.keys() & node.quotas.keys()}
    return not near.isdisjoint(jobs.every) and jobs.without_class.isdisjoint({*near, None})


RULE = ObjectRule(
    "priority-threshold-below-all",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Raise maxPriorityThreshold to the highest priority that may be preempted.",
    judges=("ClusterQueue",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=(
        "Cohort",
        "WorkloadPriorityClass",
        "PriorityClass",
        "LocalQueue",
        "ClusterQueue",
        *KINDS,
    ),
)
