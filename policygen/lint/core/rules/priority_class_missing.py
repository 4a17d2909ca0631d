"""A pod or PodGroup has a PriorityClass that does not exist."""

from policygen.core.finding import At
from policygen.core.suggest import suggest
from policygen.kubernetes.table import Entry
from policygen.kubernetes.volcano import PodGroupView, VolcanoJobView
from policygen.kubernetes.workloads import KINDS
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

_BUILT_IN = ("system-cluster-critical", "system-node-critical")


def check(facts: Facts) -> Hits:
    """Pods are refused when they are created; a PodGroup silently has priority 0.

    Checks only if the input has PriorityClasses.
    Source: plugin/pkg/admission/priority; volcano's pkg/scheduler/cache/cache.go.
    """
    classes = facts.cluster.priority_classes
    if not classes.any:
        return

    def unknown(name: str) -> bool:
        return bool(name) and name not in _BUILT_IN and not classes.knows(name)

    def hit(who: str, name: str, then: str, at: At) -> Hit:
        message = f'{who} has PriorityClass "{name}", which does not exist, so {then}'
        return Hit(RULE, f"{message}; {suggest(name, classes.names())}", at)

    for workload in facts.cluster.workloads:
        for template in workload.templates:
            name = template.spec.priority_class_name
            if unknown(name):
                at = template.at.to("spec", "priorityClassName")
                yield hit(str(workload), name, "its pods are refused", at)
    groups: list[Entry[PodGroupView] | Entry[VolcanoJobView]] = [
        *facts.cluster.pod_groups,
        *facts.cluster.volcano_jobs,
    ]
    for group in groups:
        name = group.it.priority_class_name
        if unknown(name):
            at = group.at.to("spec", "priorityClassName")
            yield hit(str(group), name, "it has priority 0", at)


RULE = ObjectRule(
    "priority-class-missing",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write the name of a PriorityClass that exists, or create it first.",
    judges=("PodGroup", *KINDS),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("PriorityClass",),
)
