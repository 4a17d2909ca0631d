"""Two PriorityClasses have the same value, so neither goes before the other."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.kubernetes.core import PriorityClass
from policygen.kubernetes.table import Entry
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Classes that differ in their preemptionPolicy may mean to share a value.

    Source: k8s.io/kubernetes/plugin/pkg/admission/priority: only the value counts later.
    """
    for entries in facts.cluster.priority_classes.by(_rank).values():
        first = entries[0]
        for entry in entries[1:]:
            if entry.name != first.name:
                yield Hit(
                    RULE,
                    f"{entry} has value {entry.it.value} as {first} has, so their pods are equal; "
                    "write different values, or use one class",
                    entry.at / "value",
                    (first.at / "value",),
                )


def _rank(entry: Entry[PriorityClass]) -> tuple[int, str]:
    return entry.it.value, entry.it.preemption_policy


RULE = ObjectRule(
    "priority-classes-equal",
    Severity.INFO,
    Family.INERT,
    __doc__,
    judges=("PriorityClass",),
    check=check,
)
