"""What DaemonSets leave of nodes for other pods: each runs a pod on every node that takes it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TypedDict

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.quoting import some
from policygen.kubernetes.daemons import daemon_nodes
from policygen.kubernetes.node_filters import Demand
from policygen.kubernetes.node_groups import Node, NodeSet, NodeSize
from policygen.kubernetes.node_index import Bits, NodeIndex
from policygen.kubernetes.priorities import HIGHEST
from policygen.kubernetes.workloads import PodTemplate, Workload
from policygen.lint.core.limit_range_refusals import is_refused_by_range
from policygen.lint.core.template_demand import own_demand
from policygen.lint.rule import Facts


class _Left(TypedDict):
    """The fields of a node that DaemonSets change."""

    allocatable: Mapping[str, Fraction]
    together: Mapping[str, Fraction]
    daemons: Mapping[str, tuple[str, ...]]


class DaemonPods(Struct, frozen=True, eq=False):
    """The pods of one DaemonSet."""

    workload: Workload
    template: PodTemplate
    demand: Demand
    nodes: Bits
    """The nodes that certainly take a pod."""


def daemon_pods(facts: Facts, index: NodeIndex) -> Iterator[DaemonPods]:
    """Every DaemonSet that runs on a node, if the node is otherwise empty."""
    for workload in facts.cluster.workloads:
        if workload.kind != "DaemonSet" or workload.object.group != "apps":
            continue
        if is_refused_by_range(facts, workload):
            continue
        for template in workload.templates:
            own = own_demand(facts.cluster, workload, template)
            nodes = daemon_nodes(index, own)
            if nodes:
                yield DaemonPods(workload, template, own, nodes)


class RoomBeside(Struct, frozen=True, eq=False):
    """What DaemonSets leave of nodes, in the same order."""

    all: NodeSet
    """For pods that can evict none of the pods of DaemonSets."""
    evicting: NodeSet
    """For pods of a higher priority: without DaemonSets whose pods a pod of users can evict."""
    least_evicted: int
    """The lowest priority of the pods that `evicting` omits."""


def beside_daemons(index: NodeIndex, every: Sequence[DaemonPods]) -> RoomBeside:
    """The nodes of an index with what DaemonSets leave of them."""
    lasting = [it for it in every if it.demand.priority >= HIGHEST]
    evicted = [it.demand.priority for it in every if it.demand.priority < HIGHEST]
    beside_all = _beside(index, every)
    beside_lasting = _beside(index, lasting) if evicted else beside_all
    return RoomBeside(beside_all, beside_lasting, min(evicted, default=HIGHEST))


def _beside(index: NodeIndex, every: Sequence[DaemonPods]) -> NodeSet:
    if not every:
        return index.nodes
    groups: list[tuple[Bits, tuple[DaemonPods, ...]]] = [(index.all, ())]
    for it in every:
        parts = [(group & ~it.nodes, others) for group, others in groups]
        parts += ((group & it.nodes, (*others, it)) for group, others in groups)
        groups = [part for part in parts if part[0]]
    left = [*index.nodes.all]
    for group, daemons in groups:
        made: dict[object, _Left] = {}
        for bit, node in index.entries(group) if daemons else ():
            amounts = *node.allocatable.items(), *node.together.items()
            key = node.count, node.stated, *((name, it.as_integer_ratio()) for name, it in amounts)
            if key not in made:
                made[key] = _left(node, daemons)
            left[bit.bit_length() - 1] = replace(node, **made[key])
    return NodeSet(left)


def _left(node: Node, daemons: Iterable[DaemonPods]) -> _Left:
    """What the pods of DaemonSets leave of a node, and of all nodes that equal it."""
    left, together = {**node.allocatable}, {**node.together}
    size = NodeSize(node.allocatable, 1, node.stated)
    users: defaultdict[str, list[str]] = defaultdict(list)
    for it in daemons:
        for name, requested in (("pods", Fraction(1)), *it.demand.requests):
            have = left.get(name, size.amount(name))
            if have is None:
                continue
            left[name] = max(have - requested, Fraction(0))
            if name in together:
                together[name] = max(together[name] - requested * node.count, Fraction(0))
            users[name].append(str(it.workload))
    by_resource = {name: tuple(found) for name, found in users.items()}
    return {"allocatable": left, "together": together, "daemons": by_resource}


def beside(nodes: Iterable[Node], resource: str) -> str:
    """Which DaemonSets use a part of a resource, as the end of a clause about its amount; or an empty text."""
    found = dict.fromkeys(name for node in nodes for name in node.daemons.get(resource, ()))
    return f" beside {some([*found], 'DaemonSet', 2)}" if found else ""
