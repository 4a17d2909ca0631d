"""Two priority classes have the same value, so neither preempts the other."""

from collections.abc import Iterator

from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import PriorityClassView
from policygen.kubernetes.kueue import WorkloadPriorityClassView
from policygen.kubernetes.priorities import default, values
from policygen.kubernetes.table import Entry
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

Class = Entry[PriorityClassView] | Entry[WorkloadPriorityClassView]


def check(facts: Facts) -> Hits:
    """Classes with different preemptionPolicies may share a value on purpose.

    Source: k8s.io/kubernetes/plugin/pkg/admission/priority, which copies only the value to pods;
    pkg/util/priority of Kueue, which copies it to Workloads.
    """
    for first, entry in _equal(facts.cluster):
        if entry.name != first.name:
            of = "pods" if entry.object.kind == "PriorityClass" else "jobs"
            yield Hit(
                RULE,
                f"{entry} has value {entry.fields.value}, the same as {first}, so their {of} have the "
                "same priority; write different values, or use only one of the two classes",
                entry.at / "value",
                (first.at / "value",),
            )


def _equal(cluster: Cluster) -> Iterator[tuple[Class, Class]]:
    """The first class of each rank, with each other class of this rank."""
    for entries in cluster.priority_classes.by(_rank).values():
        for entry in entries[1:]:
            yield entries[0], entry
    by_value = cluster.workload_priority_classes.by(_value)
    # With one value in total, preemption-without-priorities reports the queues.
    if len(values(cluster) | {default(cluster)}) > 1:
        for classes in by_value.values():
            for each in classes[1:]:
                yield classes[0], each


def _value(entry: Entry[WorkloadPriorityClassView]) -> int:
    return entry.fields.value


def _rank(entry: Entry[PriorityClassView]) -> tuple[int, str]:
    return entry.fields.value, entry.fields.preemption_policy


RULE = ObjectRule(
    "priority-classes-equal",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Give the classes different values, or use only one of them.",
    judges=("PriorityClass", "WorkloadPriorityClass"),
    check=check,
)
