"""A PriorityClass never preempts, but a lower class does, or Volcano has the action preempt and no class preempts."""

from collections.abc import Sequence

from policygen.core.names import LOCAL_QUEUE
from policygen.kubernetes.untyped import text
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core import priorities
from policygen.lint.core.priorities import Class
from policygen.lint.rule import (
    Edit,
    Facts,
    Family,
    Hit,
    Hits,
    Need,
    ObjectRule,
    Severity,
    written,
)
from policygen.lint.volcano import queues
from policygen.lint.volcano.configuration import settings


def check(facts: Facts) -> Hits:
    """Checks the highest class, and classes of serving workloads beside those of other workloads.

    A preempting class of at least the same value is the one for workloads that shall preempt.
    Kueue ignores the policy and evicts itself, so the rule skips its workloads, and the highest
    class if the input has ClusterQueues.
    Source: pkg/scheduler/framework/plugins/defaultpreemption, PodEligibleToPreemptOthers.
    """
    classes = facts.cluster.derive(priorities.own_classes)
    if not any(map(priorities.preempts, classes)):
        yield from _without_any(facts, classes)
        return
    used = facts.cluster.derive(priorities.classes_of_gpu_workloads)
    # Also those with a refused value, which are meant to be the highest.
    values = [
        it.fields.value
        for it in facts.cluster.priority_classes
        if not it.name.startswith("system-")
    ]
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
                f"or Never in {rival.name} too, or give {rival.name} the higher value",
                entry.at / "preemptionPolicy",
                (rival.at / "value",),
                meant=_preempting(entry),
            )


def _without_any(facts: Facts, classes: Sequence[Class]) -> Hits:
    """No class preempts, although Volcano has the action preempt: it skips pods with this policy.

    Source: pkg/scheduler/actions/preempt/preempt.go of Volcano 1.14.1, preempt.
    """
    configuration = settings(facts)
    if configuration is None or "preempt" not in configuration.evicts:
        return
    used = {
        template.spec.priority_class_name or text(it.spec, "priorityClassName")
        for it in facts.cluster.workloads
        for template in it.templates
        if queues.queue_of_pods(facts.cluster, it, template)
    }
    ranked = sorted((it for it in classes if it.name in used), key=_value)
    if ranked and ranked[0].fields.value < ranked[-1].fields.value:
        top = ranked[-1]
        yield Hit(
            RULE,
            f"no PriorityClass preempts, not even {top}, so the action preempt of Volcano has no effect; "
            f"write preemptionPolicy: PreemptLowerPriority in {top.name}, or remove preempt from the actions",
            top.at / "preemptionPolicy",
            (configuration.actions_at,),
            meant=_preempting(top),
        )


def _preempting(entry: Class) -> tuple[Edit, ...]:
    """The class with the policy that was probably meant, so that gang-cannot-reclaim does not report its gangs too."""
    return written(entry.at / "preemptionPolicy", "PreemptLowerPriority")


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
    reads=("ClusterQueue", "PriorityClass", "PodGroup", "volcano-scheduler.conf", *KINDS),
)
