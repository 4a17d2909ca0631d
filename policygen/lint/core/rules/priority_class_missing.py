"""A pod or pod group names a PriorityClass that is not there."""

from collections.abc import Iterator

from policygen.core.finding import At, Hit
from policygen.core.rule import Severity
from policygen.core.suggest import suggest
from policygen.kubernetes.table import Entry
from policygen.kubernetes.volcano import Job, PodGroup
from policygen.kubernetes.workloads import KINDS
from policygen.lint.rule import Facts, Family, Need, ObjectRule

_BUILT_IN = ("system-cluster-critical", "system-node-critical")


def check(facts: Facts) -> Iterator[Hit]:
    """Pods are refused when they are created; a pod group counts with priority 0, in silence.

    Only where the input has classes at all.
    Source: plugin/pkg/admission/priority; volcano's pkg/scheduler/cache/cache.go.
    """
    classes = facts.cluster.priority_classes
    if not classes.any:
        return

    def unknown(name: str) -> bool:
        return bool(name) and name not in _BUILT_IN and not classes.knows(name)

    def claim(who: str, name: str, then: str, at: At) -> Hit:
        hint = suggest(name, classes.names())
        return Hit(
            RULE, f'{who} has PriorityClass "{name}", which is not there: {then}; {hint}', at
        )

    for workload in facts.cluster.workloads:
        for template in workload.templates:
            name = template.spec.priority_class_name
            if unknown(name):
                at = template.at.to("spec", "priorityClassName")
                yield claim(str(workload), name, "its pods are refused", at)
    groups: list[Entry[PodGroup] | Entry[Job]] = [
        *facts.cluster.pod_groups,
        *facts.cluster.volcano_jobs,
    ]
    for group in groups:
        name = group.it.priority_class_name
        if unknown(name):
            at = group.at.to("spec", "priorityClassName")
            yield claim(str(group), name, "it counts with priority 0", at)


RULE = ObjectRule(
    "priority-class-missing",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("PodGroup", *KINDS),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("PriorityClass",),
)
