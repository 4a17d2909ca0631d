"""GPU nodes have no taint, so pods without GPUs can fill them."""

from collections.abc import Hashable, Iterator

from msgspec import Struct

from policygen.core.names import GPU
from policygen.core.quoting import counted
from policygen.core.tolerations import tolerates
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.core import TaintView
from policygen.kubernetes.node_filters import HARD
from policygen.kubernetes.node_groups import Node
from policygen.kubernetes.node_index import Bits, NodeIndex
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.known_nodes import node_index
from policygen.lint.core.pod_demands import READS, PodDemand, pod_demands
from policygen.lint.core.refused_pods import named
from policygen.lint.core.rules.gpu_nodes_closed import same_pool, tolerations_of_input
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

_LEAST_TAINTED = 2
"""With fewer tainted nodes of a pool, it is not known which ones differ."""


class GpuNodes(Struct, frozen=True, eq=False):
    """All known nodes."""

    open: Bits
    """Those with accelerators that no taint protects."""
    tainted: Bits
    """Those with accelerators and such a taint."""
    without: Bits
    """Those without accelerators."""


def check(facts: Facts) -> Hits:
    """A pod without GPUs can use up the cpu or memory of a node, so that its GPUs stay idle.

    Reported only if nodes without GPUs take the same pods, and if the pods request cpu or memory; or for a single
    node without the taint of its pool, if pods or a flavor of the input tolerate this taint.
    Source: pkg/scheduler/framework/plugins/tainttoleration of Kubernetes 1.36.3; a selector of GPU
    pods does not keep other pods away.
    """
    index, nodes = facts.derive(node_index), facts.derive(gpu_nodes)
    lacking = 0
    for bit, node, taint, others in _lacking(facts, index, nodes):
        lacking |= bit
        yield Hit(
            RULE,
            f"Node {node.name} has no taint {named(taint)}, but the {others} other nodes of its pool have this taint, so "
            f"pods without a toleration can use up its cpu and memory; run: kubectl taint nodes {node.name} {named(taint)}",
            node.at,
        )
    guests, open_nodes = [], nodes.open & ~lacking
    used: Bits = 0
    for it in facts.derive(pod_demands) if open_nodes and nodes.without else ():
        takers = index.takers(it.ways[0].demand) if is_plain(it) else 0
        if takers & open_nodes and takers & nodes.without:
            guests.append(it.workload)
            used |= takers & open_nodes
    if guests:
        other = counted(len(guests) - 1, "other workload")
        open_ = {node.name: node for _, node in index.entries(used)}
        first = next(iter(open_.values()))
        yield Hit(
            RULE,
            f"{counted(len(open_), 'node')} with GPUs {'has' if len(open_) == 1 else 'have'} no taint that keeps pods "
            f"away, so pods without GPUs, such as those of {guests[0]}{f' and of {other}' if len(guests) > 1 else ''}, can use "
            f"up the cpu and memory there; taint these nodes, for example {GPU}=present:NoSchedule, "
            "and add a toleration to pods with GPUs",
            first.at,
            related=(guests[0].at,),
        )


def _lacking(
    facts: Facts, index: NodeIndex, nodes: GpuNodes
) -> Iterator[tuple[Bits, Node, TaintView, int]]:
    """The only node of each pool that lacks the one taint of all others, with the taint and their number."""
    pools: dict[Hashable, list[tuple[Bits, Node]]] = {}
    for bit, node in index.entries(nodes.open | nodes.tainted if nodes.open else 0):
        pool = same_pool(node) if node.at else None
        if pool is not None:
            pools.setdefault(pool, []).append((bit, node))
    for members in pools.values():
        open_ = [it for it in members if it[0] & nodes.open]
        others = [node.taints for bit, node in members if bit & nodes.tainted]
        if len(open_) != 1 or len(others) < _LEAST_TAINTED:
            continue
        common = {it for it in others[0] if it.effect in HARD}.intersection(*others[1:])
        used = facts.derive(tolerations_of_input)
        known = [it for it in common if any(each.key and tolerates(each, it) for each in used)]
        if len(common) == len(known) == 1:
            yield *open_[0], known[0], len(others)


def is_plain(it: PodDemand) -> bool:
    """Whether pods request only cpu, memory and the like, outside Kueue's flavors, and claim no device."""
    way = it.ways[0]
    names = [name for name, _ in way.demand.requests]
    devices = any(map(is_one, names)) or it.template.spec.resource_claims
    return not way.flavors and bool(names) and not devices


def gpu_nodes(facts: Facts) -> GpuNodes:
    """The nodes by accelerators and taints that keep pods away; use it with `facts.derive`."""
    index = facts.derive(node_index)
    open_, tainted, without = 0, 0, 0
    for bit, node in index.entries(index.all):
        if not any(is_one(name) and have for name, have in node.allocatable.items()):
            without |= bit
        elif any(taint.effect in HARD for taint in node.taints):
            tainted |= bit
        else:
            open_ |= bit
    return GpuNodes(open_, tainted, without)


RULE = ObjectRule(
    "gpu-nodes-open",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Taint GPU nodes, and add a toleration to pods with GPUs.",
    judges=("Node",),
    check=check,
    needs=frozenset({Need.NODES}),
    reads=(*READS, *KINDS),
)
