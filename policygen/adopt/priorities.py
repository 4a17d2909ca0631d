"""Reads the priorities of a set, and which pools can preempt for them."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from policygen.adopt.models import PREEMPTING
from policygen.adopt.quotas import HERE
from policygen.adopt.trees import Scope
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.object import Object
from policygen.kubernetes.priorities import HIGHEST
from policygen.kubernetes.untyped import text
from policygen.spec.types import Pool, Priority

PREEMPTS = "PreemptLowerPriority"
_SYSTEM = "system-"
"""Kubernetes reserves names of priority classes that begin with it."""
_VALUES = range(-(2**31), HIGHEST + 1)
"""The values that a priority of a spec can have; higher ones are those of the system."""


def priorities(cluster: Cluster, scope: Scope) -> list[Priority]:
    """The priorities of the classes of a set, in the order of their names."""
    policies = _policies(cluster, scope)
    values: dict[str, tuple[int, Object]] = {}
    # Kueue uses "default" for jobs without a class.
    for pod_class in cluster.priority_classes:
        if scope.has(pod_class.labels) and pod_class.name in policies:
            values[pod_class.name] = pod_class.fields.value, pod_class.object
    for workload_class in cluster.workload_priority_classes:
        if scope.has(workload_class.labels) and not workload_class.name.startswith(_SYSTEM):
            values.setdefault(
                workload_class.name, (workload_class.fields.value, workload_class.object)
            )
    return [
        Priority(
            name=name,
            at=HERE,
            value=value,
            preempts=PREEMPTS in policies.get(name, {PREEMPTS}),
            description=text(found.data, "description") or None,
        )
        for name, (value, found) in sorted(values.items())
        if name != "default" and value in _VALUES and not _is_second(name, values)
    ]


def _is_second(name: str, known: Collection[str]) -> bool:
    """Whether it is the second class of a priority, whose first class has no label of the set."""
    return name.endswith(PREEMPTING) and name.removesuffix(PREEMPTING) in known


def _policies(cluster: Cluster, scope: Scope) -> dict[str, set[str]]:
    """The preemption policies of the classes of each priority; two if only some pools preempt.

    Without the classes that every cluster has, which belong to no policy.
    """
    mine = {
        it.name: it.fields.preemption_policy
        for it in cluster.priority_classes
        if scope.has(it.labels) and not it.name.startswith(_SYSTEM)
    }
    found = {}
    for name, policy in mine.items():
        plain = name.removesuffix(PREEMPTING)
        if plain == name or plain not in mine:
            found[name] = {policy} | {mine[it] for it in (f"{name}{PREEMPTING}",) if it in mine}
    return found


def preempting(cluster: Cluster, scope: Scope) -> frozenset[bool]:
    """Whether pools exist that preempt, and pools that do not, as far as classes of priorities show."""
    policies = _policies(cluster, scope).values()
    shown = {policy == PREEMPTS for both in policies if PREEMPTS in both for policy in both}
    return frozenset(shown)


def doubled(cluster: Cluster, scope: Scope) -> frozenset[str]:
    """The priorities that have one class for pools that preempt, and one for pools that do not."""
    return frozenset(name for name, both in _policies(cluster, scope).items() if len(both) > 1)


def without_kueue(cluster: Cluster, scope: Scope) -> bool:
    """Whether a set has priorities, but no classes of Kueue: then all its pools have other schedulers."""
    of_kueue = any(scope.has(it.labels) for it in cluster.workload_priority_classes)
    return scope.rendered and bool(_policies(cluster, scope)) and not of_kueue


def adjusted(
    found: Iterable[Priority], pools: Sequence[Pool], schedulers: Mapping[str, str]
) -> list[Priority]:
    """The priorities; `preempts` is the default where no pool could preempt for any priority."""
    able = any(
        schedulers[pool.name] != "kueue" and pool.scheduling_policy.preemption_enabled is not False
        for pool in pools
    )
    return [it if able or it.preempts else _preempting(it) for it in found]


def _preempting(priority: Priority) -> Priority:
    return Priority(priority.name, priority.at, priority.value, description=priority.description)
