"""Two PriorityClasses have the same value, so neither preempts the other."""

from policygen.kubernetes.core import PriorityClassView
from policygen.kubernetes.table import Entry
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Classes with different preemptionPolicies may share a value on purpose.

    Source: k8s.io/kubernetes/plugin/pkg/admission/priority, which copies only the value to pods.
    """
    for entries in facts.cluster.priority_classes.by(_rank).values():
        first = entries[0]
        for entry in entries[1:]:
            if entry.name != first.name:
                yield Hit(
                    RULE,
                    f"{entry} has value {entry.fields.value}, the same as {first}, so their pods have the "
                    "same priority; write different values, or use only one of the two classes",
                    entry.at / "value",
                    (first.at / "value",),
                )


def _rank(entry: Entry[PriorityClassView]) -> tuple[int, str]:
    return entry.fields.value, entry.fields.preemption_policy


RULE = ObjectRule(
    "priority-classes-equal",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Give the PriorityClasses different values, or use one of them.",
    judges=("PriorityClass",),
    check=check,
)
