"""A priority class has a lower value than another one, although their names suggest the reverse."""

from collections.abc import Iterable, Iterator
from itertools import combinations
from operator import itemgetter

from policygen.kubernetes.core import PriorityClassView
from policygen.kubernetes.kueue import WorkloadPriorityClassView
from policygen.kubernetes.table import Entry
from policygen.lint.core.priorities import named_rank
from policygen.lint.rule import Edit, Facts, Family, Hit, Hits, ObjectRule, Severity, Verb

Class = Entry[PriorityClassView] | Entry[WorkloadPriorityClassView]


def check(facts: Facts) -> Hits:
    """Compares classes whose names differ only in a word such as high and low.

    Source: plugin/pkg/admission/priority of Kubernetes and pkg/util/priority of Kueue, which use only the value.
    """
    cluster = facts.cluster
    for classes in (cluster.priority_classes, cluster.workload_priority_classes):
        for higher, lower in _swapped(classes):
            of = "pods" if higher.object.kind == "PriorityClass" else "jobs"
            yield Hit(
                RULE,
                f"{higher} has value {higher.fields.value}, below the {lower.fields.value} of {lower.name}, so the {of} of "
                f"{lower.name} come first and can preempt those of {higher.name}; exchange the two values",
                higher.at / "value",
                (lower.at / "value",),
                meant=(
                    Edit(Verb.REWRITE, higher.at / "value", lower.fields.value),
                    Edit(Verb.REWRITE, lower.at / "value", higher.fields.value),
                ),
            )


def _swapped(classes: Iterable[Class]) -> Iterator[tuple[Class, Class]]:
    """The first pair of each set of classes with similar names: the one that should be higher, and the other."""
    by_rest: dict[str, list[tuple[int, Class]]] = {}
    for it in classes:
        named = named_rank(it.name) if "value" in it.object.data else None
        if named:
            by_rest.setdefault(named[0], []).append((named[1], it))
    for found in by_rest.values():
        ordered = sorted(found, key=itemgetter(0))
        for (low, lower), (high, higher) in combinations(ordered, 2):
            if low < high and higher.fields.value < lower.fields.value:
                yield higher, lower
                break


RULE = ObjectRule(
    "priority-names-swapped",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Exchange the values of the two classes.",
    judges=("PriorityClass", "WorkloadPriorityClass"),
    check=check,
)
