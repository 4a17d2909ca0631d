"""Pods that run on every node that other pods can use, although one of them repels the other.

Source: pkg/scheduler/framework/plugins/interpodaffinity/filtering.go, satisfyPodAntiAffinity and
satisfyExistingPodsAntiAffinity, of Kubernetes 1.36.3.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from policygen.core.finding import Path
from policygen.core.names import HOSTNAME
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.namespaces import selects
from policygen.kubernetes.node_filters import REQUIRED
from policygen.kubernetes.node_index import Bits, NodeIndex
from policygen.kubernetes.pod_terms import PodTerm, TermKind, required_terms
from policygen.kubernetes.priorities import of_class
from policygen.kubernetes.untyped import entries, texts
from policygen.lint.core.known_nodes import daemons, node_index
from policygen.lint.core.pod_demands import PodDemand, pod_demands
from policygen.lint.core.pod_partners import TemplatePods, partners
from policygen.lint.rule import Facts

_LASTING = ("apps", "argoproj.io", "leaderworkerset.x-k8s.io")
"""API groups whose pods do not end."""
Terms = tuple[tuple[Path, PodTerm], ...]


class Occupant(Struct, frozen=True, eq=False):
    """Pods of which one runs on each of some nodes."""

    pods: TemplatePods
    apart: Terms
    """The required terms of their podAntiAffinity."""
    nodes: Bits


class Repelled(Struct, frozen=True, eq=False):
    """Pods that no node takes because of pods that run on all of them."""

    it: PodDemand
    path: Path
    """The first of their own terms that excludes nodes; () if only the terms of the others do."""
    occupants: tuple[Occupant, ...]
    nodes: int
    """The number of nodes that take the pods if these are empty."""


def repelled(facts: Facts) -> tuple[Repelled, ...]:
    """All such pods; use it with `facts.derive` and Need.KNOWN_NODES."""
    apart = {
        id(pods.template): terms
        for pods in facts.derive(partners).pods
        if (terms := tuple(_apart(pods)))
    }
    return tuple(_Repelled(facts, apart).found()) if apart else ()


class _Repelled:
    def __init__(self, facts: Facts, apart: dict[int, Terms]) -> None:
        self._facts, self._apart = facts, apart
        self._index = facts.derive(node_index)
        self._pods = {id(it.template): it for it in facts.derive(partners).pods}
        occupants = (*self._everywhere(), *self._one_on_each())
        self._occupants = {id(it.pods): it for it in occupants}
        self._selected: dict[str, Sequence[Occupant]] = {}
        self._repelling: dict[int, list[tuple[Occupant, PodTerm]]] = {}
        """The occupants that repel the pods of a template, by the id of the pods."""
        for occupant in self._occupants.values():
            for _, term in occupant.apart:
                for pods in facts.derive(partners).selected([term]):
                    if self._selects(term, pods):
                        self._repelling.setdefault(id(pods), []).append((occupant, term))

    def found(self) -> Iterator[Repelled]:
        never_run: set[int] = set()
        for it in self._facts.derive(pod_demands) if self._occupants else ():
            pods = self._pods[id(it.template)]
            own = [
                (occupant, term, path)
                for path, term in self._apart.get(id(it.template), ())
                for occupant in self._occupants_of(term)
            ]
            others = [(occupant, term, ()) for occupant, term in self._repelling.get(id(pods), ())]
            blocked = 0
            by: dict[int, tuple[Occupant, Path]] = {}
            for occupant, term, path in (*own, *others):
                number = id(occupant.pods)
                if occupant.pods is pods or number in never_run:
                    continue
                if not self._is_evicted(pods, occupant.pods):
                    blocked |= self._index.domain(occupant.nodes, term.key)
                    by.setdefault(number, (occupant, path))
            taking = 0
            for way in it.ways if by else ():
                taking |= self._index.takers(way.demand)
            if taking and not taking & ~blocked:
                never_run.add(id(pods))
                first: Path = next((path for _, path in by.values() if path), ())
                occupants = tuple(occupant for occupant, _ in by.values())
                yield Repelled(it, first, occupants, _count(self._index, taking))

    def _occupants_of(self, term: PodTerm) -> Sequence[Occupant]:
        """The occupants that a term selects."""
        key = repr(term)
        if key not in self._selected:
            self._selected[key] = [
                self._occupants[id(pods)]
                for pods in self._facts.derive(partners).selected([term])
                if id(pods) in self._occupants and self._selects(term, pods)
            ]
        return self._selected[key]

    def _everywhere(self) -> Iterator[Occupant]:
        """DaemonSets, on the nodes that certainly take their pods."""
        for it in self._facts.derive(daemons):
            pods = self._pods[id(it.template)]
            yield Occupant(pods, self._apart.get(id(it.template), ()), it.nodes)

    def _one_on_each(self) -> Iterator[Occupant]:
        """Workloads that repel themselves, with at least as many pods as nodes."""
        for it in self._facts.derive(pod_demands):
            own = self._apart.get(id(it.template), ())
            pods = self._pods[id(it.template)]
            if not own or len(it.ways) > 1 or it.workload.object.group not in _LASTING:
                continue
            if any(term.key == HOSTNAME and self._selects(term, pods) for _, term in own):
                nodes = self._index.takers(it.ways[0].demand)
                if nodes and (it.pods or 0) >= _count(self._index, nodes):
                    yield Occupant(pods, own, nodes)

    def _is_evicted(self, pods: TemplatePods, occupant: TemplatePods) -> bool:
        """Whether the pods may preempt the other pods, which then do not come back."""
        cluster = self._facts.cluster
        first, other = (
            of_class(cluster, it.template.spec.priority_class_name) for it in (pods, occupant)
        )
        return first is None or other is None or first > other

    def _selects(self, term: PodTerm, pods: TemplatePods) -> bool:
        """Whether a term certainly selects the pods."""
        selector, namespace = term.selector, pods.workload.namespace
        if selector is None or not selector.selects(pods.labels):
            return False
        if any(
            it.key not in pods.labels and pods.may_have(it.key) for it in selector.match_expressions
        ):
            return False
        if namespace in term.namespaces:
            return True
        others, cluster = term.namespace_selector, self._facts.cluster
        return others is not None and (others.empty or _is_selected(cluster, term, namespace))


def _is_selected(cluster: Cluster, term: PodTerm, namespace: str) -> bool:
    selector = term.namespace_selector
    return selector is not None and selects(cluster, selector, namespace) is True


def _apart(pods: TemplatePods) -> Iterator[tuple[Path, PodTerm]]:
    """The required terms of their podAntiAffinity, without those that depend on unknown labels."""
    affinity, namespace = pods.template.spec.affinity, pods.workload.namespace
    written: Sequence[object] = entries(affinity, TermKind.APART.value, REQUIRED)
    for path, term in required_terms(affinity, TermKind.APART, namespace, pods.labels):
        data = written[int(path[-1])]
        keys = (*texts(data, "matchLabelKeys"), *texts(data, "mismatchLabelKeys"))
        if all(key in pods.labels for key in keys):
            yield path, term


def _count(index: NodeIndex, nodes: Bits) -> int:
    return sum(node.count for _, node in index.entries(nodes))
