"""A PriorityClass never preempts, but a lower class does."""

from policygen.core.names import LOCAL_QUEUE
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core import priorities
from policygen.lint.core.priorities import Class
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Checks the highest class, and classes of serving workloads beside those of other workloads.

    A preempting class of at least the same value is the one for workloads that shall preempt.
    Kueue ignores the policy and evicts itself, so the rule skips its workloads, and the highest
    class if the input has ClusterQueues.
    Source: pkg/scheduler/framework/plugins/defaultpreemption, PodEligibleToPreemptOthers.
    """
    classes = facts.cluster.derive(priorities.own_classes)
    used = facts.cluster.derive(priorities.classes_of_gpu_workloads)
    values = [it.fields.value for it in classes]
    for entry in classes:
        if priorities.preempts(entry):
            continue
        value = entry.fields.value
        serving = any(
            it.kind in priorities.SERVING and LOCAL_QUEUE not in it.labels
            for it in used.get(entry.name, ())
        )
        others = [it for it in classes if priorities.preempts(it)]
        if value == max(values) and not facts.cluster.cluster_queues.any:
            rivals = [] if any(it.fields.value >= value for it in others) else others
        elif serving and not any(it.fields.value == value for it in others):
            rivals = [it for it in others if it.fields.value < value and it.name in used]
        else:
            continue
        if rivals:
            rival = max(rivals, key=_value)
            yield Hit(
                RULE,
                f"pods of {entry} evict no pods, but pods of the lower class {rival.name} do, so {entry.name} "
                "waits while lower priorities run; write preemptionPolicy: PreemptLowerPriority, "
                f"or Never in {rival.name} too",
                entry.at / "preemptionPolicy",
                (rival.at / "value",),
            )


def _value(entry: Class) -> int:
    return entry.fields.value


RULE = ObjectRule(
    "high-priority-never-preempts",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Let the higher class preempt too, or write preemptionPolicy: Never in the lower class.",
    judges=("PriorityClass",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("ClusterQueue", "PriorityClass", *KINDS),
)
