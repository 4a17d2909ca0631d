"""WorkloadPriorityClasses exist, but a ClusterQueue never preempts."""

from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Priorities then only order waiting jobs. lends-without-reclaim reports queues that lend.

    Source: apis/kueue/v1beta2/clusterqueue_types.go: all three policies are Never by default.
    """
    classes = facts.cluster.workload_priority_classes
    if len({entry.fields.value for entry in classes}) < 2:
        return
    reported = "cohort-preemption-ignored" in facts.run and Need.WHOLE in facts.given
    for queue in facts.cluster.cluster_queues:
        preemption = queue.fields.preemption
        if queue.fields.cohort_name:
            continue
        if preemption and preemption.reclaim_within_cohort != "Never" and reported:
            continue
        if preemption is None or preemption.within_cluster_queue == "Never":
            yield Hit(
                RULE,
                f"{queue} never preempts, so priorities only order its waiting jobs; write "
                "preemption.withinClusterQueue: LowerPriority if urgent jobs must preempt others",
                queue.at.to("spec", "preemption", "withinClusterQueue"),
            )


RULE = ObjectRule(
    "priorities-without-preemption",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Set withinClusterQueue: LowerPriority if urgent jobs must preempt others.",
    judges=("ClusterQueue",),
    check=check,
    reads=("WorkloadPriorityClass",),
)
