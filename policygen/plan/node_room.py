"""What the nodes of a pool have, and how many replicas of one model they hold at the same time."""

from collections.abc import Sequence

from msgspec import Struct

from policygen.plan.amounts import HOST
from policygen.plan.assignment import Assignment
from policygen.plan.pods import requests
from policygen.plan.pool import PoolFacts


class PodRoom(Struct, frozen=True):
    """The pods of a model that one empty node of a pool holds, by the resource that bounds them."""

    facts: PoolFacts
    resource: str
    has: int
    """The amount of a node."""
    each: int
    """The request of a pod."""

    @property
    def pods(self) -> int:
        """The number of pods."""
        return self.has // self.each


def node_amounts(facts: PoolFacts, names: Sequence[str]) -> tuple[int, ...]:
    """What a node of a pool has of each resource; 1 of what is no resource."""
    cpu, memory = facts.node.cpu_milli, facts.node.memory_bytes
    units = {it: min(facts.available[it], facts.units_per_node) for it in facts.resources}
    has = {**dict(zip(HOST, (cpu, memory), strict=True)), **units}
    return tuple(has.get(name, 1) for name in names)


def node_rooms(chosen: Assignment) -> Sequence[PodRoom] | None:
    """The room on a node of each pool of a model.

    None for MIG pools, because the spec does not state the instances of each node.
    """
    if any(it.pool.gpu.sharing == "mig" for it in chosen.pools):
        return None
    asked = {name: amount for name, amount in requests(chosen).items() if amount}
    return [
        min(
            (
                PodRoom(facts, *it)
                for it in zip(asked, node_amounts(facts, [*asked]), asked.values(), strict=True)
            ),
            key=lambda it: it.pods,
        )
        for facts in chosen.pools
    ]


def replicas_on_nodes(chosen: Assignment) -> int | None:
    """How many pods of a model the nodes hold if no other pod runs on them; None: not known."""
    rooms = node_rooms(chosen)
    return None if rooms is None else sum(it.facts.node_count * it.pods for it in rooms)
