"""Which pools a model may use, and which of them it runs on.

A decision looks only at the model and at the quotas, so another model never moves it.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from policygen.core.finding import Hit
from policygen.core.suggest import Names
from policygen.hardware import catalog
from policygen.plan import explanation
from policygen.plan.assignment import BEFORE_FLAVOR, Assignment, Obstacle, Rank, Rejection
from policygen.plan.fit import Offer, Replica, Size, memory, misfit
from policygen.plan.pool import PoolFacts
from policygen.plan.replicas import counted_resources, limit_of, replicas
from policygen.plan.tree import Tree
from policygen.spec.types import Model

Wish = Mapping[str, int]
"""The pools that a model's placement names; a lower number is preferred."""


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
        labels_of = (facts.product.labels for facts in pools if facts.product is not None)
        self._kinds = Names(
            [*self.by_word, *self.by_product, *(it for them in labels_of for it in them)]
        )

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
        unknown: list[tuple[int, list[str]]] = []
        for index, kind in enumerate(placement.node_types):
            matched = offering = self._of_kind(kind)
            if placement.pools:
                matched = {name: facts for name, facts in named.items() if name in offering}
            for name in matched:
                # Pools of one node type are equal, unless the model also orders its pools.
                order.setdefault(name, len(order) if placement.pools else index)
            if not matched:
                unknown.append((index, list(offering)))
        offered = (named if placement.pools else self.by_name).values()
        # Node types with the same advice are one finding.
        alike: dict[tuple[tuple[str, ...], str], list[int]] = {}
        for index, elsewhere in unknown:
            similar = self._similar(placement.node_types[index])
            advice = similar or explanation.node_kinds(offered)
            alike.setdefault((tuple(elsewhere), advice), []).append(index)
        hits += [
            explanation.unknown_node_types(model, indexes, elsewhere, advice, alone=not order)
            for (elsewhere, advice), indexes in alike.items()
        ]
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
        found = [it for facts in pools.values() if (it := self._rejection(replica, wish, facts))]
        # A pool that placement does not name matters only if the model fits it.
        apart = {it.pool for it in found if wish is not None and it.pool not in wish}
        return sorted(
            found, key=lambda it: (it.obstacle is Obstacle.SIZE and it.pool in apart, it.distance)
        )

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
            size = Obstacle.SIZE
            return Rejection(facts.name, size, why.reason, why.at, why.excess, why.remedy)
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
            key=lambda it: (it.rank[:BEFORE_FLAVOR], tree.pools.index(it.facts)),
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

    def _similar(self, kind: str) -> str:
        """The advice for an unknown node type, if a name for a known one is similar."""
        meant = self._kinds.meant(kind) if catalog.product(kind) is None else ""
        return f'did you mean "{meant}"?' if meant else ""

    def _of_kind(self, kind: str) -> Mapping[str, PoolFacts]:
        """Pools whose nodes have the type that a model names: product, label, instance type, or pool."""
        match = catalog.product(kind)
        called = self.by_word.get(kind, {})
        alike = self.by_product.get(match.product.id, {}) if match is not None else {}
        return {**called, **alike} if called and alike else called or alike
