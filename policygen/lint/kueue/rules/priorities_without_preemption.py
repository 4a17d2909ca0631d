"""WorkloadPriorityClasses exist, but a ClusterQueue never preempts."""

from collections.abc import Mapping

from policygen.kubernetes.kueue_jobs import PRIORITY, labels
from policygen.kubernetes.priorities import of_class
from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.coverage import READS, pod_requests
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Priorities then only order waiting jobs. lends-without-reclaim reports queues that lend.

    A queue that reclaims from its cohort is reported if its own jobs have different priorities. A queue is
    not reported if it has jobs, but none with a priority class.

    Source: apis/kueue/v1beta2/clusterqueue_types.go: all three policies are Never by default.
    """
    classes = facts.cluster.workload_priority_classes
    if len({entry.fields.value for entry in classes}) < 2:
        return
    used = facts.derive(_used)
    reported = "cohort-preemption-ignored" in facts.run and Need.WHOLE in facts.given
    for queue in facts.cluster.cluster_queues:
        preemption = queue.fields.preemption
        reclaims = preemption is not None and preemption.reclaim_within_cohort != "Never"
        if queue.name in used and not used[queue.name]:
            continue
        if queue.fields.cohort_name and not (reclaims and len(used.get(queue.name, ())) > 1):
            continue
        if reclaims and reported and not queue.fields.cohort_name:
            continue
        if preemption is None or preemption.within_cluster_queue == "Never":
            yield Hit(
                RULE,
                f"{queue} never preempts {'its own jobs' if reclaims else 'jobs'}, so priorities only order its waiting jobs; write "
                "preemption.withinClusterQueue: LowerPriority if urgent jobs must preempt others",
                queue.at.to("spec", "preemption", "withinClusterQueue"),
            )


def _used(facts: Facts) -> Mapping[str, set[int]]:
    """The priorities of the classes that jobs of each queue name; use it with `facts.derive`."""
    classes, found = facts.cluster.workload_priority_classes, dict[str, set[int]]()
    for request in pod_requests(facts):
        of_queue = found.setdefault(request.queue.name, set())
        entry = classes.get(labels(request.workload).get(PRIORITY, ""))
        name = request.template.spec.priority_class_name
        value = entry.fields.value if entry else of_class(facts.cluster, name) if name else None
        if value is not None:
            of_queue.add(value)
    return found


RULE = ObjectRule(
    "priorities-without-preemption",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Set withinClusterQueue: LowerPriority if urgent jobs must preempt others.",
    judges=("ClusterQueue",),
    check=check,
    reads=tuple(dict.fromkeys(("WorkloadPriorityClass", "PriorityClass", *READS, *KINDS))),
)
