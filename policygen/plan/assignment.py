"""A model on the pools that it can use, and why other pools are worse or impossible."""

from collections.abc import Sequence
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

from msgspec import Struct

from policygen.core.finding import At
from policygen.plan.fit import Memory, Size
from policygen.plan.pool import PoolFacts
from policygen.plan.replicas import Replicas
from policygen.plan.tree import TeamNode, Tree
from policygen.spec.types import Model, TeamNamespace


class Criterion(StrEnum):
    """The first comparison by which the chosen pool is better than the next one."""

    LIMIT = "limit"
    """Only there the limit of the team covers the model's minimum."""
    ORDER = "order"
    """The model's placement names it earlier."""
    GANG = "gang"
    """It starts all pods of a gang together."""
    GUARANTEE = "guarantee"
    """The guarantee of the team covers the model's minimum."""
    MEMORY = "memory"
    """It leaves the least GPU memory unused."""
    UNITS = "units"
    """A replica takes fewer units."""
    NAME = "name"
    FLAVOR = "flavor"
    """Their shared queue tries it first. Compared only in one queue, before MEMORY."""
    ONLY = "only"
    """No other pool is possible."""


class Rank(NamedTuple):
    """The criteria of an assignment, in the order of Criterion; lower is better."""

    limit: bool = False
    order: int = 0
    gang: bool = False
    guarantee: bool = False
    memory: tuple[int, int] = (0, 0)
    units: int = 0
    name: str = ""


BEFORE_FLAVOR = Rank._fields.index("memory")
"""The number of criteria that come before the order of flavors."""


class Assignment(Struct, frozen=True, eq=False):
    """A model on pools that it can use: on one, or on all pools of its team in a shared queue."""

    model: Model
    pools: tuple[PoolFacts, ...]
    """In the order of the queue's flavors."""
    size: Size
    memory: Memory
    """GPU memory of one replica on the first pool."""
    replicas: Replicas
    tree: Tree
    node: TeamNode | None
    """The leaf of its team, or None if the model has no team."""
    pinned: bool
    """Whether its queue has other pools that it must not use."""
    rank: Rank = Rank()

    @property
    def facts(self) -> PoolFacts:
        """The first pool."""
        return self.pools[0]

    @property
    def place(self) -> str:
        """The pool or shared queue, for messages."""
        return place_of(self.pools)

    def least(self, resource: str) -> int:
        """What the model needs of a resource to run at all."""
        return self.replicas.piece.get(resource, 0) * max(self.replicas.least, 1)

    @property
    def queue(self) -> str | None:
        """The name of its team's queue."""
        return self.tree.name_of(self.node) if self.node else None

    @property
    def namespace(self) -> TeamNamespace | None:
        """The namespace of the model's pods: the one that it names, or its team's first."""
        owned = self.node.team.namespaces if self.node else ()
        name = self.model.namespace
        if name is None:
            return owned[0] if owned else None
        return next((it for it in owned if it.name == name), TeamNamespace(name))


class Obstacle(StrEnum):
    """Why a model does not run on a pool; the nearest to running comes first."""

    PREEMPTIBLE = "preemptible"
    """A replica fits, but the model does not tolerate preemptible nodes."""
    PLACEMENT = "placement"
    """A replica fits, but the model's placement does not name the pool."""
    NAMESPACE = "namespace"
    """A replica fits, but no namespace can use the team's quota."""
    QUOTA = "quota"
    """A replica fits, but the team has no quota for the pool."""
    SIZE = "size"
    """A replica fits no node of the pool."""


_NEAREST = list(Obstacle)


class Rejection(Struct, frozen=True):
    """A pool on which a model cannot run, and why."""

    pool: str
    obstacle: Obstacle
    reason: str
    at: At
    excess: Fraction = Fraction(0)
    """The need of a replica as a multiple of what a node has; 0 if unknown."""
    remedy: str = ""
    """What to write so that a replica fits the pool."""

    @property
    def text(self) -> str:
        """The reason with the remedy."""
        return f"{self.reason}, so {self.remedy}" if self.remedy else self.reason

    @property
    def distance(self) -> tuple[int, bool, Fraction, str]:
        """Lower is nearer to running; unknown needs are the farthest."""
        return _NEAREST.index(self.obstacle), not self.excess, self.excess, self.pool


class ModelPlacement(Struct, frozen=True):
    """The decision about one model."""

    model: Model
    options: tuple[Assignment, ...]
    """Where it can run, the best first; empty if it fits no pool."""
    rejected: tuple[Rejection, ...]
    """The other pools of its team or placement, the nearest to running first."""

    @property
    def chosen(self) -> Assignment | None:
        """Where it runs."""
        return self.options[0] if self.options else None

    @property
    def criterion(self) -> Criterion | None:
        """Why it runs there."""
        return deciding(self.options) if self.options else None


def deciding(options: Sequence[Assignment]) -> Criterion:
    """Why the first of the options is better than the second."""
    if len(options) == 1:
        return Criterion.ONLY
    first, second = options[:2]
    pairs = zip(Criterion, first.rank, second.rank, strict=False)
    found = next(why for why, one, other in pairs if one != other)
    beyond = list(Criterion).index(found) >= BEFORE_FLAVOR
    return Criterion.FLAVOR if beyond and first.tree is second.tree else found


def place_of(pools: Sequence[PoolFacts]) -> str:
    """One pool, or the pools of a shared queue, for messages."""
    if len(pools) == 1:
        return f'pool "{pools[0].name}"'
    return f'shared queue "{pools[0].queue}"'
