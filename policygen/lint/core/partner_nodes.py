"""Required affinities to pods that run only on other nodes.

Source: pkg/scheduler/framework/plugins/interpodaffinity/filtering.go of Kubernetes 1.36.3,
satisfyPodAffinity: a node counts only if a matching pod runs in its domain.
"""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from policygen.core.finding import Path
from policygen.core.names import HOSTNAME
from policygen.kubernetes.node_index import Bits, NodeIndex
from policygen.kubernetes.pod_terms import PodTerm
from policygen.lint.core.known_nodes import node_index
from policygen.lint.core.pod_demands import pod_demands
from policygen.lint.core.pod_partners import TemplatePods, known_partners
from policygen.lint.rule import Facts


class Separated(Struct, frozen=True, eq=False):
    """Pods that must run beside others, which run only on nodes that they cannot use."""

    pods: TemplatePods
    path: Path
    """The term."""
    term: PodTerm
    partners: tuple[TemplatePods, ...]
    own: tuple[str, ...]
    """The names of nodes, or of the pools of a spec, that take the pods."""
    others: tuple[str, ...]
    """The same for the partners."""


def separated(facts: Facts) -> Iterator[Separated]:
    """All such pods. Pods that no node takes, which have a finding, and their partners do not count."""
    index = facts.derive(node_index)
    known = known_partners(facts) if index.all else ()
    takers: Mapping[int, Bits] | None = None
    for pods, path, term, partners in known:
        takers = _takers(facts, index) if takers is None else takers
        own = takers.get(id(pods.template), 0)
        others = [takers.get(id(it.template), 0) for it in partners]
        if not own or not all(others):
            continue
        together = 0
        for it in others:
            together |= it
        if not own & _domains(index, together, term.key):
            yield Separated(pods, path, term, partners, _names(index, own), _names(index, together))


def _takers(facts: Facts, index: NodeIndex) -> Mapping[int, Bits]:
    """The nodes that may take the pods of each template, by its id."""
    found: dict[int, Bits] = {}
    for it in facts.derive(pod_demands):
        for way in it.ways:
            found[id(it.template)] = found.get(id(it.template), 0) | index.takers(way.demand)
    return found


def _domains(index: NodeIndex, nodes: Bits, key: str) -> Bits:
    """The nodes that are, or may be, in one domain with these nodes."""
    if key == HOSTNAME:
        return nodes
    unknown = index.unknown(key)
    return index.all if unknown & nodes else index.domain(nodes, key) | unknown


def _names(index: NodeIndex, nodes: Bits) -> tuple[str, ...]:
    return tuple(dict.fromkeys(node.name for _, node in index.entries(nodes)))
