"""A workload names a WorkloadPriorityClass that does not exist."""

from policygen.core.suggest import suggest
from policygen.kubernetes.kueue_jobs import PRIORITY, labels, labels_at, queued
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.renamed_objects import NameUse, renamed_objects
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue creates no Workload and records no event, so the job stays suspended.

    Source: pkg/util/priority/priority.go; pkg/controller/jobframework/reconciler.go,
    handleJobWithNoWorkload (Kueue 0.19.2); issue 3439.
    """
    known = facts.cluster.workload_priority_classes
    uses = [
        NameUse(job.workload, name, labels_at(job.workload) / PRIORITY)
        for job in facts.cluster.derive(queued)
        if (name := labels(job.workload).get(PRIORITY))
    ]
    renamed = renamed_objects(uses, known)
    for it in renamed.values():
        yield from it.hits(facts, RULE)
    for owner, name, at in uses:
        if not known.knows(name) and name not in renamed:
            yield Hit(
                RULE,
                f'{owner} names WorkloadPriorityClass "{name}", which does not exist; '
                f"{suggest(name, known.names(), 'WorkloadPriorityClass')}",
                at,
            )


RULE = ObjectRule(
    "workload-priority-class-missing",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Name an existing WorkloadPriorityClass, or create the missing one.",
    judges=(*KINDS, "WorkloadPriorityClass"),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("WorkloadPriorityClass", "ClusterQueue", "LocalQueue"),
)
