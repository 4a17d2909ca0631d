"""Two priority classes have the same value, so neither preempts the other."""

from collections.abc import Iterable, Iterator, Sequence

from policygen.core.quoting import listed
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import PriorityClassView
from policygen.kubernetes.kueue import WorkloadPriorityClassView
from policygen.kubernetes.priorities import default, values
from policygen.kubernetes.table import Entry
from policygen.lint.core.priorities import named_rank
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

Class = Entry[PriorityClassView] | Entry[WorkloadPriorityClassView]


def check(facts: Facts) -> Hits:
    """Classes with different preemptionPolicies may share a value on purpose, but not `high` and `low`.

    Source: k8s.io/kubernetes/plugin/pkg/admission/priority, which copies only the value to pods;
    pkg/util/priority of Kueue, which copies it to Workloads.
    """
    for equal in _equal(facts.cluster):
        first, *others = {it.name: it for it in equal}.values()
        if not others:
            continue
        of = "pods" if first.object.kind == "PriorityClass" else "jobs"
        ranked = _differ(equal)
        although = ", although their names suggest an order" if ranked else ""
        which = "the two classes" if len(others) == 1 else "the classes"
        have = "has" if len(others) == 1 else "have"
        yield Hit(
            RULE,
            f"{listed([f'{it}' for it in others], 'and')} {have} value {first.fields.value}, the same as {first}, so "
            f"their {of} have the same priority{although}; write different values, or use only one of {which}",
            others[0].at / "value",
            tuple(it.at / "value" for it in (first, *others[1:])),
            severity=Severity.WARNING if ranked else None,
        )


def _equal(cluster: Cluster) -> Iterator[Sequence[Class]]:
    """The classes of each rank."""
    for entries in cluster.priority_classes.by(_value).values():
        if _differ(entries):
            yield entries
            continue
        for policy in dict.fromkeys(it.fields.preemption_policy for it in entries):
            yield [it for it in entries if it.fields.preemption_policy == policy]
    # With one value in total, preemption-without-priorities reports the queues.
    if len(values(cluster) | {default(cluster)}) > 1:
        yield from cluster.workload_priority_classes.by(_value).values()


def _differ(classes: Iterable[Class]) -> bool:
    """Whether the names of two classes suggest different values, such as high and low."""
    ranks = {rank for it in classes if (rank := named_rank(it.name))}
    return len({rest for rest, _ in ranks}) < len(ranks)


def _value(entry: Class) -> int:
    return entry.fields.value


RULE = ObjectRule(
    "priority-classes-equal",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Give the classes different values, or use only one of them.",
    judges=("PriorityClass", "WorkloadPriorityClass"),
    check=check,
)
