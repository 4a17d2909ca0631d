"""Pools to which an autoscaler adds nodes, as `--assume nodes/POOL=...` states it.

All nodes that can exist are nodes of the scene. Those that do not exist yet are named here.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.names import HOSTNAME
from policygen.kubernetes.accelerators import gpus_of
from policygen.kubernetes.node_groups import Node
from policygen.simulate.assumptions import NodeGrowth
from policygen.simulate.scene_pools import ScenePool


class GrowingPool(Struct, frozen=True, eq=False):
    """A pool whose nodes come and go."""

    name: str
    nodes: tuple[str, ...]
    """All that can exist at once; the first ones exist when the simulation begins, the next ones are on their way."""
    begins: int
    """How many exist then."""
    growth: NodeGrowth
    coming: tuple[float, ...] = ()
    """Of the nodes that are on their way, the seconds until they exist."""

    @property
    def missing(self) -> tuple[str, ...]:
        """The nodes that do not exist yet."""
        return self.nodes[self.begins :]


def grown(
    nodes: Iterable[Node],
    pools: Iterable[ScenePool],
    stated: Mapping[str, NodeGrowth],
    *,
    implied: bool,
) -> tuple[tuple[Node, ...], tuple[ScenePool, ...], tuple[GrowingPool, ...]]:
    """The nodes that can exist, the pools with them, and the pools that grow.

    `implied`: the nodes are those of a spec, so the smallest number of them exists at the start. Nodes of a
    cluster all exist. A new node is a copy of the last one of its pool. Pools without nodes do not grow.
    """
    found = {it.name: it for it in nodes}
    changed: list[ScenePool] = []
    growing: list[GrowingPool] = []
    for pool in pools:
        growth = stated.get(pool.name)
        own = [it for it in found.values() if it.name in pool.nodes]
        if growth is None or not own:
            changed.append(pool)
            continue
        for it in own[growth.most :] if implied else ():
            del found[it.name]
        kept = own[: growth.most] if implied else own
        more = _copies(kept[-1], pool.name, growth.most - len(kept), found)
        found |= {it.name: it for it in more}
        every = (*kept, *more)
        names = tuple(it.name for it in every)
        gpus = sum(gpus_of(it.allocatable) for it in every)
        changed.append(replace(pool, nodes=frozenset(names), gpus=gpus))
        begins = min(growth.least, len(kept)) if implied else len(kept)
        growing.append(GrowingPool(pool.name, names, begins, growth))
    return tuple(found.values()), tuple(changed), tuple(growing)


def _copies(last: Node, pool: str, count: int, known: Mapping[str, Node]) -> Sequence[Node]:
    """More nodes like this one, with names that no node has."""
    found: list[Node] = []
    number = 0
    while len(found) < count:
        name = f"{pool}-{number}"
        number += 1
        if name not in known:
            labels = {**last.labels, HOSTNAME: name}
            found.append(replace(last, name=name, labels=labels, unschedulable=False))
    return found
