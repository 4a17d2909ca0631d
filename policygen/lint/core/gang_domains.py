"""Pods of several templates of a gang that repel each other, and need more domains than the nodes have."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from policygen.core.finding import At, Path
from policygen.kubernetes.node_domains import EqualPods, domains, repelled
from policygen.kubernetes.pod_labels import pod_labels
from policygen.lint.core.gang_pods import pods_together
from policygen.lint.core.known_nodes import node_index
from policygen.lint.core.node_rooms import exceeding
from policygen.lint.core.pod_demands import PodDemand, pod_demands
from policygen.lint.rule import Facts

_MOST_TEMPLATES = 64
"""Of which all pairs are compared."""


class ScatteredGang(Struct, frozen=True, eq=False):
    """Templates of one workload whose pods must all be in different domains."""

    first: PodDemand
    path: Path
    """The term of its pods, below the pod spec."""
    pods: int
    """All pods of these templates that must run at once."""
    key: str
    """The label of the domains."""
    domains: int
    """Those with a node that takes the pods."""


class _GangTemplate(Struct, frozen=True, eq=False):
    demand: PodDemand
    pods: EqualPods
    count: int


def scattered_gangs(facts: Facts) -> tuple[ScatteredGang, ...]:
    """Such gangs; use it with `facts.derive`. Without workloads of which one template alone has no room."""
    return tuple(_scattered(facts))


def _scattered(facts: Facts) -> Iterator[ScatteredGang]:
    index, without_room = facts.derive(node_index), facts.derive(exceeding)
    workloads: dict[At, list[PodDemand]] = {}
    for it in facts.derive(pod_demands) if index.all else ():
        if 1 < len(it.workload.templates) <= _MOST_TEMPLATES:
            workloads.setdefault(it.workload.at, []).append(it)
    for demands in workloads.values():
        if any(it in without_room for it in demands):
            continue
        for group, path, key in _groups(_members(demands)):
            ways = [way.demand for it in group for way in it.demand.ways]
            found, pods = domains(ways, index, key), sum(it.count for it in group)
            if found is not None and 0 < found < pods:
                yield ScatteredGang(group[0].demand, path, pods, key, found)
                break


def _members(demands: Sequence[PodDemand]) -> list[_GangTemplate]:
    """The templates with the pods that must run at the same time."""
    workload = demands[0].workload
    counts = dict(zip([it.at for it in workload.templates], pods_together(workload), strict=False))
    return [
        _GangTemplate(
            it,
            EqualPods(it.template.spec, pod_labels(workload, it.template), it.ways[0].demand),
            count,
        )
        for it in demands
        if (count := counts.get(it.template.at))
    ]


def _groups(members: Sequence[_GangTemplate]) -> Iterator[tuple[list[_GangTemplate], Path, str]]:
    """Two or more templates of which no two pods can share a domain, with a term of the first one."""
    for i, first in enumerate(members):
        for path, key in repelled(first.pods, first.pods):
            group = [first]
            for other in members[i + 1 :]:
                if all(_repel(one, other, key) for one in (*group, other)):
                    group.append(other)
            if len(group) > 1:
                yield group, path, key


def _repel(one: _GangTemplate, other: _GangTemplate, key: str) -> bool:
    """Whether a term of one of them certainly keeps the pods of the other from its domain."""
    pairs = ((one, other), (other, one))
    if one is other and one.count == 1:
        return True
    return any(each == key for of, to in pairs for _, each in repelled(of.pods, to.pods))
