"""What the models of each team need together of one resource, on some pools of a queue.

Models are parts of the leaf of their team, child teams of their parent, root teams of the pool. A team
hands up only as much as it can use. So a cause exceeds at one place only. A model that exceeds the
limit of its team alone is no part of this team, and the team hands up the replicas that fit.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.rule import Rule
from policygen.plan import contributions
from policygen.plan.assignment import Assignment
from policygen.plan.claims import claims
from policygen.plan.contributions import Contribution
from policygen.plan.pool import PoolFacts
from policygen.plan.replicas import counted_resources, limit_of
from policygen.plan.rules import MODELS_EXCEED_LIMIT, PEAK_EXCEEDS_LIMIT
from policygen.plan.tree import TeamNode, Tree

ByLeaf = Mapping[str | None, Sequence[Assignment]]
"""The chosen places of models, by the leaf of their team."""
Parts = Mapping[str, Contribution]
"""Models and child teams by name."""


class Excess(Struct, frozen=True):
    """Parts that need more than a bound together."""

    rule: Rule
    node: TeamNode | None
    """The team whose limit is the bound; None if it is the capacity of the pools."""
    namespace: str | None
    """The namespace whose part of the limit is the bound, if the team has several."""
    bound: int
    total: int
    """What the parts need together."""
    parts: Sequence[Contribution]
    waiting: Sequence[Contribution] = ()
    """Those that cannot start beside what always runs, the largest first."""

    @property
    def key(self) -> tuple[str, str | None]:
        """The kind and place of the excess."""
        return self.rule.name, self.node.name if self.node else None


class ResourceSum:
    """The sums of one resource, of the models that use only some pools of a queue."""

    def __init__(
        self,
        tree: Tree,
        pools: tuple[PoolFacts, ...],
        resource: str,
        by_leaf: ByLeaf,
    ) -> None:
        self.tree = tree
        self.pools = pools
        self.resource = resource
        self.by_leaf = by_leaf
        self.counted = resource in counted_resources(pools[0])
        self._claims = claims(tree)
        self.parts: dict[str | None, Parts] = {}
        """By team, or None for the pools."""
        below: defaultdict[str | None, list[Contribution]] = defaultdict(list)
        for node in reversed(tree.nodes):
            parts = self._parts(by_leaf.get(node.name, ()), below[node.name])
            if parts or self._held(node) or self._excessive(node, parts):
                self.parts[node.name] = parts
                below[node.parent].append(self._upward(node, parts))
        self.parts[None] = self._parts(by_leaf.get(None, ()), below[None])

    @property
    def lends(self) -> bool:
        """Whether other teams can borrow and reclaim the resource."""
        return self.pools[0].lends(self.resource)

    def covers(self, chosen: Assignment) -> bool:
        """Whether it contains what a model needs on its pools."""
        names = {facts.name for facts in self.pools}
        return bool(chosen.replicas.piece.get(self.resource)) and names >= {
            facts.name for facts in chosen.pools
        }

    def excesses(self) -> Iterator[Excess]:
        """All that exceeds, child teams before their parents."""
        for node in reversed(self.tree.nodes):
            yield from self._exceeding(node, self.parts.get(node.name, {}))
        yield from self._exceeding(None, self.parts[None])

    def after(
        self, node: TeamNode | None, change: Mapping[str, Contribution | None], more: int = 0
    ) -> list[Excess]:
        """What exceeds from a team up to the pools if some of its parts change, and its limit grows."""
        found: list[Excess] = []
        parts = {**self.parts.get(node.name if node else None, {}), **change}
        left = {name: it for name, it in parts.items() if it is not None}
        while True:
            found += self._exceeding(node, left, more)
            if node is None:
                return found
            upward = self._upward(node, left, more)
            left = {**self.parts.get(node.parent, {}), upward.name: upward}
            node, more = self.tree.parent(node), 0

    def of_leaf(self, node: TeamNode) -> list[Contribution]:
        """The models of a leaf, also those that exceed its limit alone."""
        chosen = [it for it in self.by_leaf.get(node.name, ()) if self.covers(it)]
        made = [contributions.of_model(it, self.resource) for it in chosen]
        return [
            it
            for it in made
            if it.name in self.parts.get(node.name, {}) or it.always > self.limit(node)
        ]

    def limit(self, node: TeamNode) -> int:
        """The limit of a team on all of the pools."""
        return sum(node.limit[it.name][self.resource] for it in self.pools)

    def claim(self, node: TeamNode) -> int:
        """What a team has on all of the pools that no other team can reclaim."""
        return sum(self._claims[node.name][it.name].get(self.resource, 0) for it in self.pools)

    def _parts(
        self, chosen: Sequence[Assignment], below: Sequence[Contribution]
    ) -> dict[str, Contribution]:
        """Models that fit the limit of their team alone, and child teams."""
        models = [it for it in chosen if not it.rank.limit and self.covers(it)]
        every = [*(contributions.of_model(it, self.resource) for it in models), *reversed(below)]
        return {it.name: it for it in every}

    def _excessive(self, node: TeamNode, parts: Parts) -> list[Contribution]:
        """What serving models of a leaf use that exceed its limit alone, and are no parts of it."""
        chosen = [it for it in self.by_leaf.get(node.name, ()) if it.rank.limit and self.covers(it)]
        made = [contributions.of_excessive(it, self.resource) for it in chosen]
        return [it for it in made if it.always and it.name not in parts]

    def _held(self, node: TeamNode) -> int:
        """The guarantee of a team, where no other team can borrow it."""
        if self.tree.scheduler == "kube-scheduler" or self.pools[0].policy.preemption_enabled:
            return 0
        return sum(node.guarantee[it.name].get(self.resource, 0) for it in self.pools)

    def _upward(self, node: TeamNode, parts: Parts, more: int = 0) -> Contribution:
        """The part of a team in the sum above it. No quota of kube-scheduler sums over child teams."""
        bounded = self.counted and (node.leaf or self.tree.scheduler != "kube-scheduler")
        limit = self.limit(node) + more if bounded else None
        made = contributions.of_team(node, [*parts.values()], limit, self.resource)
        excessive = self._excessive(node, parts)
        made = contributions.with_excessive(made, excessive, limit, self.resource)
        return contributions.with_guarantee(made, self._held(node), self.resource)

    def _exceeding(self, node: TeamNode | None, parts: Parts, more: int = 0) -> Iterator[Excess]:
        if node is None:
            bound = sum(it.available[self.resource] for it in self.pools)
            yield from _excess(None, None, bound, [*parts.values()])
        elif not self.counted:
            return
        elif self.tree.scheduler != "kube-scheduler":
            yield from _excess(node, None, self.limit(node) + more, [*parts.values()])
        elif node.leaf:
            # Each namespace has its own quota.
            by_namespace: defaultdict[str | None, list[Contribution]] = defaultdict(list)
            for it in parts.values():
                namespace = it.models[0].namespace
                by_namespace[namespace.name if namespace else None].append(it)
            for name, some in by_namespace.items():
                whole = limit_of(self.pools[0], node, some[0].models[0].namespace)
                several = name if len(node.team.namespaces) > 1 else None
                yield from _excess(node, several, whole[self.resource] + more, some)


def _excess(
    node: TeamNode | None, namespace: str | None, bound: int, parts: Sequence[Contribution]
) -> Iterator[Excess]:
    """What a bound does not hold together: what always runs and one start, or all replicas."""
    if len(parts) < 2 and all(len(it.models) < 2 for it in parts):
        return
    always = sum(it.always for it in parts)
    # A model whose most replicas exceed the bound alone has a finding of its own.
    peak = [it for it in parts if it.most <= bound]
    most = sum(it.most for it in peak)
    blocked = [
        replace(it, start=it.blocked, starter=it.blocked_starter, always=0, always_text="")
        for it in parts
        if always - it.always + it.blocked > bound and it.blocked
    ]
    starting = max(parts, key=lambda it: it.start)
    if always + starting.start > bound:
        waiting = [
            replace(it, start=start, starter=starter, others=())
            for it in parts
            for start, starter in it.starts
            if always + start > bound
        ]
        waiting.sort(key=lambda it: -it.start)
        waiting += blocked if always <= bound else []
        running = [it for it in parts if it.always]
        total = always + starting.start
        yield Excess(MODELS_EXCEED_LIMIT, node, namespace, bound, total, running, waiting)
    elif blocked:
        # Its own team has no room for it either, which is another cause.
        largest = max(blocked, key=lambda it: it.start)
        running = [it for it in parts if it.always and it.name != largest.name]
        total = sum(it.always for it in running) + largest.start
        yield Excess(MODELS_EXCEED_LIMIT, node, namespace, bound, total, running, (largest,))
    elif most > bound:
        yield Excess(PEAK_EXCEEDS_LIMIT, node, namespace, bound, most, peak)
