"""A pod or pod group names a PriorityClass that is not there."""

from collections.abc import Iterator

from policygen.core.finding import At, Severity
from policygen.core.suggest import suggest
from policygen.kubernetes.table import Entry
from policygen.kubernetes.volcano import Job, PodGroup
from policygen.kubernetes.workloads import KINDS
from policygen.lint.rule import Claim, Facts, Family, Need, Rule

_BUILT_IN = ("system-cluster-critical", "system-node-critical")


def check(facts: Facts) -> Iterator[Claim]:
    """Pods are refused when they are created; a pod group counts with priority 0, in silence.

    Only where the input has classes at all.
    Source: plugin/pkg/admission/priority; volcano's pkg/scheduler/cache/cache.go.
    """
    classes = facts.cluster.priority_classes
    if not classes.any:
        return

    def unknown(name: str) -> bool:
        return bool(name) and name not in _BUILT_IN and not classes.knows(name)

    def claim(who: str, name: str, then: str, at: At) -> Claim:
        hint = suggest(name, classes.names())
        return Claim(f'{who} has PriorityClass "{name}", which is not there: {then}; {hint}', at)

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


RULE = Rule(
    "priority-class-missing",
    Severity.ERROR,
    Family.INERT,
    judges=("PodGroup", *KINDS),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("PriorityClass",),
)
