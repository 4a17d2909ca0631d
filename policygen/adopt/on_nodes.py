"""Gives pools the sizes and taints of the nodes that were read, and names what a pool cannot say.

The nodes of a pool are equal, and its queues divide what it has. Nodes that differ, and quotas above
the nodes, are a guess in the spec and a line in the list.
"""

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from policygen.adopt import nodes
from policygen.adopt.capacity import MOST_GPUS, MOST_PER_NODE
from policygen.adopt.nodes import NodeFacts
from policygen.adopt.pools import Found, needed
from policygen.adopt.profiles import Profiles
from policygen.core.names import GPU
from policygen.core.quantity import MEBIBYTE
from policygen.core.quoting import counted, listed
from policygen.core.tolerations import tolerates
from policygen.kubernetes.cluster import Cluster
from policygen.plan.amounts import CPU, MEMORY, Vector, amount_of
from policygen.spec.types import Capacity, Gpu, NodeResources, Pool


class PoolOnNodes(Struct, frozen=True):
    """A pool with the nodes that were read."""

    pool: Pool
    sized: bool
    """Whether its GPUs and capacity are those of the nodes."""
    differences: tuple[str, ...] = ()
    """What the nodes are and the pool cannot say: each is a guess about its capacity."""
    taints: tuple[str, ...] = ()
    """Taints that are not those of the pool, because only some nodes have them."""


def on_nodes(
    cluster: Cluster, found: Found, pool: Pool, shown: Profiles, *, exact: bool
) -> PoolOnNodes:
    """The pool with its nodes; unchanged if none were read.

    `exact`: the quotas were computed from nodes, so other sums mean other nodes.
    """
    if not pool.node_selector:
        return PoolOnNodes(pool, sized=False)
    every = [
        facts
        for it in sorted(found.resources)
        if (facts := nodes.of_labels(cluster, dict(pool.node_selector), it))
    ]
    taints: tuple[str, ...] = ()
    if len(every) == 1 and not exact:
        pool = _tainted(pool, every[0])
        taints = tuple(_partly_tainted(pool, every[0]))
    if len(found.resources) != 1 or not every or pool.gpu.sharing != "none":
        return PoolOnNodes(pool, sized=False, taints=taints)
    (facts,) = every
    if exact and shown.rank(facts.per_node):
        return PoolOnNodes(pool, sized=False, taints=taints)
    made = _shape(facts, found.available, exact=exact)
    differences = () if exact else tuple(_differences(facts, found.available))
    if made is not None:
        pool = replace(pool, gpu=made[0], capacity=made[1])
    return PoolOnNodes(pool, sized=made is not None, differences=differences, taints=taints)


def _shape(facts: NodeFacts, available: Vector, *, exact: bool) -> tuple[Gpu, Capacity] | None:
    """GPUs and capacity of a pool with these nodes. Where its quotas exceed them, those of the quotas.

    None if no pool can have so many, and, if `exact`, if the quotas are not those of the nodes.
    """
    per_node = facts.per_node
    units = available.get(facts.resource, facts.units)
    total = max(units, facts.units)
    cpu = facts.node.cpu_milli * units // per_node
    memory = (facts.node.memory_bytes * units // per_node >> 20) << 20
    sums = (available.get(CPU, cpu), available.get(MEMORY, memory))
    if exact and (units > facts.units or sums != (cpu, memory)):
        return None
    if total > MOST_GPUS or per_node > MOST_PER_NODE or (not units and any(sums)):
        return None
    node = facts.node
    if sums[0] > cpu:
        node = NodeResources(-(-sums[0] * per_node // units), node.memory_bytes)
    if sums[1] > memory:
        mebibytes = -(-sums[1] // MEBIBYTE)
        node = NodeResources(node.cpu_milli, -(-mebibytes * per_node // units) * MEBIBYTE)
    equal = total == facts.count * per_node
    return (
        Gpu(
            product=facts.product,
            per_node=per_node,
            resource=None if facts.resource == GPU else facts.resource,
        ),
        Capacity(
            nodes=facts.count if equal else None,
            total_gpus=None if equal else total,
            available_gpus=units if 0 < units < total else None,
            node_allocatable=node,
        ),
    )


def _differences(facts: NodeFacts, available: Vector) -> Iterator[str]:
    if len(facts.counts) > 1:
        sizes = [
            f"{counted(number, 'node')} {'has' if number == 1 else 'have'} {gpus}"
            for gpus, number in facts.counts
        ]
        yield (
            f"of {facts.resource}, {listed(sizes, 'and')}, but the nodes of a pool are equal; the spec "
            f"has nodes with {facts.per_node}"
        )
    for name, have in facts.sums.items():
        quotas = available.get(name, 0)
        if quotas > have:
            yield (
                f"the nodes have {amount_of(name, have, quotas)}, but the quotas add up to "
                f"{amount_of(name, quotas, have)}; the spec has as much as the quotas"
            )


def _tainted(pool: Pool, facts: NodeFacts) -> Pool:
    """The pool with the taints of all its nodes, and a toleration for each."""
    more = tuple(it for it in facts.taints if it not in pool.taints)
    taints = (*pool.taints, *more)
    tolerations = pool.tolerations
    if tolerations is not None:
        tolerations += tuple(
            needed(it) for it in more if not any(tolerates(own, it) for own in tolerations)
        )
        if tolerations == tuple(map(needed, taints)):
            tolerations = None
    return replace(pool, taints=taints, tolerations=tolerations)


def _partly_tainted(pool: Pool, facts: NodeFacts) -> Iterator[str]:
    for taint, number in facts.partly:
        if taint not in pool.taints:
            value = f"={taint.value}" if taint.value else ""
            yield (
                f"only {number} of its {facts.count} nodes have taint {taint.key}{value}:{taint.effect}, "
                "so the pool does not have it"
            )
