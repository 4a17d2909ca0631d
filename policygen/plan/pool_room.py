"""Which pools have room for a model beside all other models."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from policygen.plan.amounts import Vector
from policygen.plan.assignment import Assignment, ModelPlacement
from policygen.plan.pool import PoolFacts
from policygen.plan.replicas import counted_resources, limit_of
from policygen.plan.tree import TeamNode


class PoolRoom:
    """The units that all models use at their minimum, to find pools with room."""

    def __init__(self, placements: Sequence[ModelPlacement]) -> None:
        self.units: defaultdict[tuple[str, str | None, str], int] = defaultdict(int)
        for placement in placements:
            for chosen in placement.options[:1]:
                for node in _upwards(chosen):
                    for resource in chosen.replicas.piece:
                        key = (chosen.tree.queue, node.name if node else None, resource)
                        self.units[key] += minimum(chosen, resource)

    def holds(self, option: Assignment) -> bool:
        """Whether a model can also run on another of its pools, there within the guarantee."""
        if option.rank.limit or option.rank.gang:
            return False
        for node in _upwards(option):
            for resource in counted_resources(option.facts):
                if node is None:
                    bound = sum(it.available[resource] for it in option.pools)
                elif node is option.node:
                    bound = sum(_safe(it, option, node)[resource] for it in option.pools)
                else:
                    bound = sum(node.limit[it.name][resource] for it in option.pools)
                need = minimum(option, resource)
                key = (option.tree.queue, node.name if node else None, resource)
                if need and self.units[key] + need > bound:
                    return False
        return True


def _safe(facts: PoolFacts, option: Assignment, leaf: TeamNode) -> Vector:
    """What a team can use without borrowing, in the namespace of a model."""
    if facts.scheduler == "kube-scheduler":
        return limit_of(facts, leaf, option.namespace)
    return leaf.guarantee[facts.name]


def minimum(option: Assignment, resource: str) -> int:
    """What a model needs of a resource to run at all."""
    return option.replicas.piece.get(resource, 0) * max(option.replicas.least, 1)


def _upwards(option: Assignment) -> Iterator[TeamNode | None]:
    """The leaf of a model's team, the nodes above it, and None for the pool."""
    node = option.node
    while node is not None:
        yield node
        node = option.tree.by_team[node.parent] if node.parent is not None else None
    yield None
