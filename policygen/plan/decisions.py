"""What the generators of objects read: the spec, and the decisions about its pools, teams and models."""

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from policygen.plan.pool import PoolFacts
from policygen.plan.tree import Tree
from policygen.plan.workloads import Workloads
from policygen.spec.types import Platform, Scheduler, Spec


class Decisions(Struct, frozen=True, eq=False):
    """The spec, and the decisions about it. Each generator decides the objects of one kind from them."""

    spec: Spec
    pools: tuple[PoolFacts, ...]
    """By name."""
    trees: tuple[Tree, ...]
    workloads: Workloads

    @property
    def platform(self) -> Platform:
        """The Platform of the spec."""
        return self.spec.platform

    def pools_of(self, scheduler: Scheduler) -> tuple[PoolFacts, ...]:
        """The pools of a scheduler."""
        return tuple(facts for facts in self.pools if facts.scheduler == scheduler)

    def trees_of(self, scheduler: Scheduler) -> tuple[Tree, ...]:
        """The queue trees of a scheduler."""
        return tuple(tree for tree in self.trees if tree.scheduler == scheduler)


Generators = Mapping[str, Callable[[Decisions], Iterable[object]]]
"""The generator of each kind's objects, by the name of the kind in the catalog."""
