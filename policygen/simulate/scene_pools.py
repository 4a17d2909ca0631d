"""The nodes and pools of a simulation: those of a spec, or the nodes that a cluster lists."""

from collections.abc import Iterable
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.names import HOSTNAME
from policygen.kubernetes import accelerators
from policygen.kubernetes.accelerators import gpus_of, unit_of
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.listed_nodes import listed_nodes
from policygen.kubernetes.node_groups import NATIVE, Node
from policygen.plan.implied_nodes import implied_nodes
from policygen.plan.node_instances import node_instances
from policygen.plan.pool import PoolFacts

MAX_PODS = Fraction(110)
"""The default of kubelet's maxPods."""
_ENOUGH = Fraction(2**50)
"""Of a resource that every node has, on a node of a spec, which does not say how much."""


class ScenePool(Struct, frozen=True, eq=False):
    """Nodes with accelerators of one kind."""

    name: str
    flavors: frozenset[str]
    """The ResourceFlavors of its nodes."""
    nodes: frozenset[str]
    """The names of its nodes in the simulation."""
    gpus: int
    """All accelerators of its nodes."""
    unit: str = "GPU"
    """What one of them is (`accelerators.unit_of`)."""


def spec_nodes(pools: Iterable[PoolFacts]) -> tuple[tuple[Node, ...], tuple[ScenePool, ...]]:
    """The nodes of a spec's pools, one by one, and the pools.

    A resource that no pool lists, but that all nodes have, is not scarce. Where pools share labels, only
    the name of a pool distinguishes their nodes.
    """
    pools = tuple(pools)
    nodes: list[Node] = []
    found = []
    for pool, node in zip(pools, implied_nodes(pools), strict=True):
        names = [f"{pool.name}-{i}" for i in range(node.count)]
        native = dict.fromkeys(NATIVE, _ENOUGH) | {"pods": MAX_PODS}
        cut = node_instances(pool, node.count) if node.together else [{}] * node.count
        gpus = 0
        # A spec does not say which nodes share a rack, so all of a pool do.
        levels = dict.fromkeys(pool.pool.topology_levels, pool.name)
        for name, instances in zip(names, cut, strict=True):
            own = {it: Fraction(amount) for it, amount in instances.items()}
            allocatable = {**native, **node.allocatable, **own}
            gpus += sum(int(allocatable[it]) for it in pool.resources)
            nodes.append(
                replace(
                    node,
                    name=name,
                    count=1,
                    labels={**levels, **node.labels, HOSTNAME: name},
                    allocatable=allocatable,
                    together={},
                )
            )
        available = sum(pool.available[it] for it in pool.resources)
        found.append(
            ScenePool(
                pool.name,
                frozenset({pool.name}),
                frozenset(names),
                min(gpus, available) or gpus,
                unit_of(pool.resources),
            )
        )
    return tuple(nodes), tuple(found)


def cluster_nodes(cluster: Cluster) -> tuple[Node, ...]:
    """The listed nodes. Manifests may omit what every kubelet lists."""
    found = []
    for node in listed_nodes(cluster):
        amounts = dict.fromkeys(NATIVE, _ENOUGH) | {"pods": MAX_PODS} | dict(node.allocatable)
        labels = {HOSTNAME: node.name, **node.labels}
        found.append(replace(node, allocatable=amounts, labels=labels))
    return tuple(found)


def flavor_pools(cluster: Cluster, nodes: Iterable[Node]) -> tuple[ScenePool, ...]:
    """A pool for each ResourceFlavor that has a quota of accelerators; without flavors, one of all nodes.

    Nodes count for the first flavor whose labels they have. Without nodes, the quotas are what a pool
    has.
    """
    nodes = tuple(nodes)
    quotas: dict[str, int] = {}
    counted_in: dict[str, set[str]] = {}
    for table in (cluster.cohorts, cluster.cluster_queues):
        for entry in table:
            for group in entry.fields.resource_groups:
                for flavor in group.flavors:
                    for quota in flavor.resources:
                        if accelerators.is_one(quota.name):
                            amount = int(quota.nominal_quota)
                            quotas[flavor.name] = quotas.get(flavor.name, 0) + amount
                            counted_in.setdefault(flavor.name, set()).add(quota.name)
    left = {it.name: it for it in nodes if gpus_of(it.allocatable)}
    found = []
    for name in sorted(quotas):
        fields = cluster.flavors.get(name)
        wanted = fields.fields.node_labels if fields is not None else {}
        own = [
            it
            for it in left.values()
            if all(it.labels.get(key) == value for key, value in wanted.items())
        ]
        for it in own:
            del left[it.name]
        gpus = sum(gpus_of(it.allocatable) for it in own) if nodes else quotas[name]
        unit = unit_of(counted_in[name])
        names = frozenset(it.name for it in own)
        found.append(ScenePool(name, frozenset({name}), names, gpus, unit))
    if left:
        gpus = sum(gpus_of(it.allocatable) for it in left.values())
        unit = unit_of(key for it in left.values() for key, one in it.allocatable.items() if one)
        found.append(
            ScenePool("other nodes" if found else "nodes", frozenset(), frozenset(left), gpus, unit)
        )
    return tuple(found)
