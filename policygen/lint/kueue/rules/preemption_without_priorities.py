"""A ClusterQueue preempts lower priorities, but all priorities are equal."""

from policygen.core.finding import dotted
from policygen.kubernetes.priorities import default, values
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Without a class that differs from the default, LowerPriority preempts nothing.

    Without any class in the input nothing is reported: the classes may be elsewhere.
    Source: concepts/preemption.md of Kueue's documentation.
    """
    if not facts.cluster.workload_priority_classes.any and not facts.cluster.priority_classes.any:
        return
    if len(values(facts.cluster) | {default(facts.cluster)}) > 1:
        return
    for queue in facts.cluster.cluster_queues:
        preemption = queue.fields.preemption
        if preemption is None:
            continue
        borrow = preemption.borrow_within_cohort
        for field, policy in (
            (("reclaimWithinCohort",), preemption.reclaim_within_cohort),
            (("withinClusterQueue",), preemption.within_cluster_queue),
            (("borrowWithinCohort", "policy"), borrow.policy if borrow else "Never"),
        ):
            if policy == "LowerPriority":
                yield Hit(
                    RULE,
                    f"{queue} has {dotted(field)}: LowerPriority, but all priorities are equal, so "
                    "this setting preempts nothing; create WorkloadPriorityClasses with different "
                    "values",
                    queue.at.to("spec", "preemption", *field),
                )
                break


RULE = ObjectRule(
    "preemption-without-priorities",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Create WorkloadPriorityClasses with different values.",
    judges=("ClusterQueue",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("WorkloadPriorityClass", "PriorityClass"),
)
