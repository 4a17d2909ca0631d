"""All pods have the highest priority, by default or because all workloads with GPUs use this class."""

from policygen.core.finding import At
from policygen.kubernetes.priorities import HIGHEST
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core import priorities
from policygen.lint.core.priorities import Class
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

_FEWEST = 3
"""The number of workloads of several namespaces which show that the class is no exception."""


def check(facts: Facts) -> Hits:
    """Negative classes are lower on purpose: they are below pods without a class, too.

    Source: plugin/pkg/admission/priority, which gives pods without a class the default one;
    pkg/scheduler/framework/preemption of kube-scheduler.
    """
    classes = facts.cluster.derive(priorities.own_classes)
    ranked = sorted((it for it in classes if it.fields.value >= 0), key=_value)
    if len(classes) == 1:
        yield from _only_class(facts, classes[0])
    if len(ranked) < 2 or ranked[0].fields.value == ranked[-1].fields.value:
        return
    top = ranked[-1]
    lower = [it for it in ranked if it.fields.value < top.fields.value]
    defaults = [it for it in classes if it.fields.global_default]
    if len(defaults) > 1:
        return  # two-default-priorities reports them
    if defaults == [top] and top.fields.value > 0:
        effect = "and evict its pods" if priorities.preempts(top) else "and start first"
        yield Hit(
            RULE,
            f"{top} is the default and has the highest value, so pods without a class are more important "
            f"than those of {lower[-1].name} {effect}; move globalDefault: true to a lower class",
            top.at / "globalDefault",
            (lower[-1].at / "value",),
        )
    elif (places := _all_use(facts, top.name)) is not None:
        yield Hit(
            RULE,
            f"all {len(places)} workloads with GPUs use {top}, the highest class, so they cannot preempt each other; "
            f"use {lower[-1].name} for workloads that can wait",
            top.at / "value",
            places[:10],
        )


def _only_class(facts: Facts, only: Class) -> Hits:
    """A single class that is the default, although only some workloads with GPUs name it, or no value is above its own."""
    used = facts.cluster.derive(priorities.classes_of_gpu_workloads)
    naming, others = used.get(only.name, ()), used.get("", ())
    if only.fields.global_default and only.fields.value > 0 and naming and others:
        yield Hit(
            RULE,
            f"{only} is the default, so {naming[0]}, which names it, is not more important than {others[0]}, "
            "which names no class; remove globalDefault: true, or move it to a lower class",
            only.at / "globalDefault",
            (naming[0].at, others[0].at),
        )
    elif only.fields.global_default and only.fields.value >= HIGHEST:
        yield Hit(
            RULE,
            f"{only} is the default and has the highest value that a class can have, so no class can be more "
            "important than the default; write a lower value, such as 0",
            only.at / "value",
        )


def _all_use(facts: Facts, name: str) -> tuple[At, ...] | None:
    """The places of all workloads with GPUs if they use this class and are of several namespaces."""
    used = facts.cluster.derive(priorities.classes_of_gpu_workloads)
    workloads = used.get(name, ())
    if set(used) != {name} or len(workloads) < _FEWEST:
        return None
    several = len({it.namespace for it in workloads}) > 1
    return tuple(it.at for it in workloads) if several else None


def _value(entry: Class) -> int:
    return entry.fields.value


RULE = ObjectRule(
    "all-pods-highest-priority",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Move globalDefault: true to a lower class, and use lower classes for workloads that can wait.",
    judges=("PriorityClass",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("PriorityClass", *KINDS),
)
