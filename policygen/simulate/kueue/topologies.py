"""The topologies of flavors from objects and nodes."""

from collections import Counter
from collections.abc import Iterable, Mapping

from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue_workloads import TopologyRequestView
from policygen.kubernetes.node_groups import Node
from policygen.simulate.kueue.amounts import counted
from policygen.simulate.kueue.state import QueueState
from policygen.simulate.kueue.topology import (
    HOSTNAME,
    FlavorTopology,
    Leaf,
    TopologyNode,
    TopologyRequest,
)


def add_topologies(
    state: QueueState,
    cluster: Cluster,
    nodes: Iterable[Node],
    used: Mapping[str, Mapping[str, int]],
) -> None:
    """Let flavors with a topology place pods in its domains.

    `used` is what pods use that are not of admitted workloads, by node, in Kueue's units.
    """
    state.topology_aware = True
    usable = [it for it in nodes if not it.unschedulable]
    hosts: dict[Leaf, Counter[str]] = {}
    for flavor in cluster.flavors:
        topology = cluster.topologies.get(flavor.fields.topology_name)
        if topology is None:
            continue
        levels = [it.node_label for it in topology.fields.levels]
        wanted = flavor.fields.node_labels.items()
        chosen = [
            TopologyNode(it.labels, it.taints, _free(it, used.get(it.name, {})), it.name)
            for it in usable
            if wanted <= it.labels.items() and all(level in it.labels for level in levels)
        ]
        state.topologies[flavor.object.name] = FlavorTopology(
            topology.object.name,
            levels,
            chosen,
            flavor.fields.tolerations,
            hosts if levels[-1:] == [HOSTNAME] else {},
        )
    for queue in state.queues.values():
        flavors = queue.flavors()
        queue.tas_only = bool(flavors) and flavors <= state.topologies.keys()


def _free(node: Node, used: Mapping[str, int]) -> Mapping[str, int]:
    return {
        name: counted(name, amount) - used.get(name, 0) for name, amount in node.allocatable.items()
    }


def topology_request(view: TopologyRequestView | None) -> TopologyRequest | None:
    """What a pod set asks of its topology; None: nothing."""
    if view is None:
        return None
    level = view.required or view.preferred
    slices = view.pod_set_slice_required_topology
    if not (level or slices or view.unconstrained):
        return None
    return TopologyRequest(
        level=level,
        required=bool(view.required),
        unconstrained=view.unconstrained or not level,
        slice_level=slices,
        slice_size=view.pod_set_slice_size if slices else 1,
    )
