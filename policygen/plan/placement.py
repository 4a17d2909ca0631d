"""Which pools a model may use, and which of them it runs on.

A decision looks only at the model and at the quotas, so another model never moves it.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.finding import At, Hit
from policygen.core.quoting import listed
from policygen.hardware import catalog
from policygen.plan.amounts import readable_bytes
from policygen.plan.fit import Memory, Offer, Replica, Size, memory, misfit
from policygen.plan.pool import PoolFacts
from policygen.plan.replicas import Replicas, counted_resources, limit_of, replicas
from policygen.plan.rules import MODEL_PLACED, NODE_TYPE_NOT_OFFERED
from policygen.plan.tree import TeamNode, Tree
from policygen.spec.types import Model, TeamNamespace

_SHOWN = 4
_SHOWN_KINDS = 10

Wish = Mapping[str, int]
"""The pools that a model's placement names; a lower number is preferred."""


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


_BEFORE_FLAVOR = Rank._fields.index("memory")


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

    @property
    def distance(self) -> tuple[int, bool, Fraction, str]:
        """Lower is nearer to running; unknown needs are the farthest."""
        return _NEAREST.index(self.obstacle), not self.excess, self.excess, self.pool


class Placing:
    """Finds the pools of each model."""

    def __init__(
        self, pools: Sequence[PoolFacts], trees: Sequence[Tree], offers: Mapping[str, Offer]
    ) -> None:
        self.offers = offers
        self.by_name = {facts.name: facts for facts in pools}
        self.tree_of = {facts.name: tree for tree in trees for facts in tree.pools}
        self.of_team: dict[str, dict[str, PoolFacts]] = {}
        """The pools for which each team has a quota, by name."""
        for tree in trees:
            for name, node in tree.by_team.items():
                quotas = {quota.pool for quota in node.team.quotas}
                mine = {facts.name: facts for facts in tree.pools if facts.name in quotas}
                self.of_team.setdefault(name, {}).update(mine)
        self.by_word: dict[str, dict[str, PoolFacts]] = {}
        """Every name that a model can use for a node type, to the pools with that type, by name."""
        self.by_product: dict[str, dict[str, PoolFacts]] = {}
        for facts in pools:
            labels = [value for _, value in facts.pool.node_selector]
            for word in (facts.name, facts.pool.capacity.node_type, *labels):
                if word is not None:
                    self.by_word.setdefault(word, {})[facts.name] = facts
            if facts.product is not None:
                self.by_product.setdefault(facts.product.id, {})[facts.name] = facts

    def wish(self, model: Model, hits: list[Hit]) -> Wish | None:
        """The pools that a model names, or whose node type it names; None if it names neither.

        Adds findings about unknown node types to `hits`.
        """
        placement = model.placement
        named = {name: self.by_name[name] for name in placement.pools if name in self.by_name}
        if not placement.node_types:
            order = {name: rank for rank, name in enumerate(named)}
            return order if placement.pools else None
        order = {}
        for index, kind in enumerate(placement.node_types):
            matched = self._of_kind(kind)
            if placement.pools:
                matched = {name: facts for name, facts in named.items() if name in matched}
            for name in matched:
                # Pools of one node type are equal, unless the model also orders its pools.
                order.setdefault(name, len(order) if placement.pools else index)
            if not matched:
                found = named if placement.pools else self.by_name
                hits.append(
                    Hit(
                        NODE_TYPE_NOT_OFFERED,
                        f'model "{model.name}": no pool offers node type "{kind}"; write one of '
                        f"{_offers(list(found.values()))}",
                        model.field("placement") / "nodeTypes" / index,
                    )
                )
        return order

    def options(self, replica: Replica, wish: Wish | None) -> list[Assignment]:
        """All pools and shared queues on which a model can run, the best first."""
        model, reach = replica.model, self._reach(replica.model)
        by_queue: dict[str, dict[str, Size]] = {}
        for name in reach if wish is None else wish:
            facts = reach.get(name)
            if facts is not None and self._barred(model, wish, facts) is None:
                size = replica.size(self.offers[name])
                if size is not None:
                    by_queue.setdefault(facts.queue, {})[name] = size
        queues = [self._in_queue(replica, wish, sizes) for sizes in by_queue.values()]
        return [it for queue in sorted(queues, key=lambda them: them[0].rank) for it in queue]

    def rejections(self, replica: Replica, wish: Wish | None) -> list[Rejection]:
        """Why a model cannot run on the other pools of its team or placement, the nearest first."""
        pools = dict(self._reach(replica.model))
        pools |= {name: self.by_name[name] for name in wish or ()}
        found = (self._rejection(replica, wish, facts) for facts in pools.values())
        return sorted((it for it in found if it), key=lambda it: it.distance)

    def without_quota(self, replica: Replica, wish: Wish | None) -> list[str]:
        """The pools on which a model could run if its team had a quota."""
        model, reach = replica.model, self._reach(replica.model)
        return [
            name
            for name in (self.by_name if wish is None else wish)
            if name not in reach
            and (model.placement.tolerate_preemptible or not self.by_name[name].pool.preemptible)
            and replica.size(self.offers[name]) is not None
        ]

    def _reach(self, model: Model) -> Mapping[str, PoolFacts]:
        """The pools of the model's team, or all pools if it has no team."""
        return self.by_name if model.team is None else self.of_team.get(model.team, {})

    def _barred(self, model: Model, wish: Wish | None, facts: PoolFacts) -> Obstacle | None:
        """Why a model must not run on a pool, whatever its size."""
        if model.team is not None:
            if facts.name not in self.of_team.get(model.team, {}):
                return Obstacle.QUOTA
            if model.team not in self.tree_of[facts.name].leaf_of:
                return Obstacle.NAMESPACE
        if wish is not None and facts.name not in wish:
            return Obstacle.PLACEMENT
        if facts.pool.preemptible and not model.placement.tolerate_preemptible:
            return Obstacle.PREEMPTIBLE
        return None

    def _rejection(self, replica: Replica, wish: Wish | None, facts: PoolFacts) -> Rejection | None:
        model, offer = replica.model, self.offers[facts.name]
        if replica.size(offer) is None:
            why = misfit(replica, offer)
            return Rejection(facts.name, Obstacle.SIZE, why.reason, why.at, why.excess)
        obstacle = self._barred(model, wish, facts)
        if obstacle is None:
            return None
        field, reason = {
            Obstacle.PREEMPTIBLE: ("placement", "the pool is preemptible"),
            Obstacle.PLACEMENT: ("placement", "placement does not name the pool"),
            Obstacle.NAMESPACE: ("team", f'team "{model.team}" has no namespace for workloads'),
            Obstacle.QUOTA: ("team", f'team "{model.team}" has no quota for the pool'),
        }[obstacle]
        return Rejection(facts.name, obstacle, f"a replica fits, but {reason}", model.field(field))

    def _in_queue(
        self, replica: Replica, wish: Wish | None, sizes: Mapping[str, Size]
    ) -> list[Assignment]:
        """The assignments to the pools of one queue, the best first.

        If a model can use all pools of its team in a shared queue, Kueue chooses one of them for each
        workload. Otherwise its pods need a nodeSelector, so they use one pool.
        """
        model = replica.model
        tree = self.tree_of[next(iter(sizes))]
        reach = self._reach(model)
        mine = tuple(facts for facts in tree.pools if facts.name in reach)
        if model.team is not None and len(mine) > 1 and self._same(mine, sizes):
            return [self._assignment(replica, wish, mine, sizes[mine[0].name], pinned=False)]
        return sorted(
            (
                self._assignment(replica, wish, (facts,), sizes[facts.name], pinned=len(mine) > 1)
                for facts in mine
                if facts.name in sizes
            ),
            key=lambda it: (it.rank[:_BEFORE_FLAVOR], tree.pools.index(it.facts)),
        )

    def _same(self, pools: Sequence[PoolFacts], sizes: Mapping[str, Size]) -> bool:
        """Whether a pod with the size for the first of the pools can run on all of them."""
        if any(facts.name not in sizes for facts in pools):
            return False
        first = sizes[pools[0].name]
        return all(
            first.resource == sizes[facts.name].resource
            and sizes[facts.name].units <= first.units <= self.offers[facts.name].units
            for facts in pools
        )

    def _assignment(
        self,
        replica: Replica,
        wish: Wish | None,
        pools: tuple[PoolFacts, ...],
        size: Size,
        *,
        pinned: bool,
    ) -> Assignment:
        model, facts = replica.model, pools[0]
        tree = self.tree_of[facts.name]
        node = None if model.team is None else tree.leaf_of[model.team]
        needed = replicas(model, size)
        made = Assignment(
            model=model,
            pools=pools,
            size=size,
            memory=memory(replica, self.offers[facts.name], size),
            replicas=needed,
            tree=tree,
            node=node,
            pinned=pinned,
        )
        limit = guarantee = True
        if node is not None:
            least, resources = max(needed.least, 1), counted_resources(facts)
            limits = [limit_of(it, node, made.namespace) for it in pools]
            limit = needed.pieces(limits, resources) >= least
            guarantees = [node.guarantee[it.name] for it in pools]
            guarantee = needed.pieces(guarantees, resources) >= least
        rank = Rank(
            limit=not limit,
            order=min(wish[it.name] for it in pools if it.name in wish) if wish else 0,
            gang=model.gang is not None and not facts.starts_gangs,
            guarantee=not guarantee,
            memory=made.memory.rank,
            units=size.units,
            name=facts.name,
        )
        return replace(made, rank=rank)

    def _of_kind(self, kind: str) -> Mapping[str, PoolFacts]:
        """Pools whose nodes have the type that a model names: product, label, instance type, or pool."""
        match = catalog.product(kind)
        called = self.by_word.get(kind, {})
        alike = self.by_product.get(match.product.id, {}) if match is not None else {}
        return {**called, **alike} if called and alike else called or alike


def deciding(options: Sequence[Assignment]) -> Criterion:
    """Why the first of the options is better than the second."""
    if len(options) == 1:
        return Criterion.ONLY
    first, second = options[:2]
    pairs = zip(Criterion, first.rank, second.rank, strict=False)
    found = next(why for why, one, other in pairs if one != other)
    beyond = list(Criterion).index(found) >= _BEFORE_FLAVOR
    return Criterion.FLAVOR if beyond and first.tree is second.tree else found


def placed(options: Sequence[Assignment]) -> Hit:
    """Where a model runs, why, and where else it could."""
    chosen, others = options[0], [it.place for it in options[1:]]
    also = ""
    if others:
        more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
        names = ", ".join(others) if more else listed(others, "and")
        also = f"; it also fits {names}{more}"
    return Hit(
        MODEL_PLACED,
        f'model "{chosen.model.name}" runs on {chosen.place} ({chosen.facts.scheduler}), because '
        f"{_because(options)}{also}",
        chosen.model.at / "metadata" / "name",
    )


def _because(options: Sequence[Assignment]) -> str:
    why, memory = deciding(options), options[0].memory
    if why is Criterion.MEMORY and memory.taken is not None:
        if memory.needed is None:
            return f"it takes the least GPU memory ({readable_bytes(memory.taken)} for a replica)"
        if memory.taken >= memory.needed:
            unused = readable_bytes(memory.taken - memory.needed)
            return f"it leaves the least GPU memory unused ({unused} for a replica)"
    return {
        Criterion.LIMIT: "only there the limit of its team covers its minimum",
        Criterion.ORDER: "placement names it first",
        Criterion.GANG: "it starts all pods of a gang together",
        Criterion.GUARANTEE: "the guarantee of its team covers its minimum",
        Criterion.MEMORY: "the memory of its GPUs fits best",
        Criterion.UNITS: "a replica takes the fewest units there",
        Criterion.NAME: "it comes first by name among equal pools",
        Criterion.FLAVOR: "its shared queue tries it first",
        Criterion.ONLY: "no other pool is possible",
    }[why]


def place_of(pools: Sequence[PoolFacts]) -> str:
    """One pool, or the pools of a shared queue, for messages."""
    if len(pools) == 1:
        return f'pool "{pools[0].name}"'
    return f'shared queue "{pools[0].queue}"'


def _offers(pools: Sequence[PoolFacts]) -> str:
    kinds = sorted({facts.product.id if facts.product else facts.name for facts in pools})
    more = f" and {len(kinds) - _SHOWN_KINDS} more" if len(kinds) > _SHOWN_KINDS else ""
    return (", ".join(kinds[:_SHOWN_KINDS]) or "none") + more
