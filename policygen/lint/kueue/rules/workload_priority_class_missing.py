"""A workload names a WorkloadPriorityClass that does not exist."""

from policygen.core.suggest import suggest
from policygen.kubernetes.kueue_jobs import PRIORITY, labels, labels_at, queued
from policygen.kubernetes.workloads import KINDS
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue creates no Workload and records no event, so the job stays suspended.

    Source: pkg/util/priority/priority.go; pkg/controller/jobframework/reconciler.go,
    handleJobWithNoWorkload (Kueue 0.19.2); issue 3439.
    """
    known = facts.cluster.workload_priority_classes
    for job in facts.cluster.derive(queued):
        name = labels(job.workload).get(PRIORITY)
        if name and not known.knows(name):
            yield Hit(
                RULE,
                f'{job.workload} names WorkloadPriorityClass "{name}", which does not '
                f"exist; {suggest(name, known.names(), 'WorkloadPriorityClass')}",
                labels_at(job.workload) / PRIORITY,
            )


RULE = ObjectRule(
    "workload-priority-class-missing",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Name an existing WorkloadPriorityClass, or create the missing one.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("WorkloadPriorityClass", "ClusterQueue", "LocalQueue"),
)
