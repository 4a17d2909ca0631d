"""What models need together, compared with the limits and guarantees of their teams, and with the pool.

Each queue is a tree: models in the leaf of their team, child teams in their parent, root teams in the
pool. A sum is reported at the lowest place where it exceeds, and handed up only as far as it can run.
So no cause is reported twice.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.finding import At, Hit
from policygen.plan import contributions, model_limits, rules
from policygen.plan.amounts import HOST, amount_of
from policygen.plan.assignment import ModelPlacement, place_of
from policygen.plan.contributions import Contribution
from policygen.plan.fit import warn
from policygen.plan.pool import PoolFacts
from policygen.plan.pool_room import PoolRoom, minimum
from policygen.plan.replicas import counted_resources, limit_of
from policygen.plan.tree import TeamNode, Tree
from policygen.plan.volcano import deserved_amounts

_SHOWN = 6


class Ceiling(Struct, frozen=True):
    """What limits the sum of some parts."""

    whose: str
    """The models: `models of team "a"`."""
    limit: str
    """The limit: `the limit of team "a"`."""
    amount: int
    spare: int
    """By how much it can be raised."""
    raised: str
    """How to raise it: `raise the limit`."""
    at: At
    minor: bool
    """Whether it is reported only if the same place has no other finding: cpu, memory, or one pool of several."""


def check(trees: Sequence[Tree], placements: Sequence[ModelPlacement]) -> Iterator[Hit]:
    """Findings about models that cannot run together, or only on borrowed GPUs."""
    by_tree: defaultdict[str, list[ModelPlacement]] = defaultdict(list)
    for placement in placements:
        if placement.options:
            by_tree[placement.options[0].tree.queue].append(placement)
    room = PoolRoom(placements)
    for tree in trees:
        if mine := by_tree.get(tree.queue):
            yield from _Sums(tree, mine, room).hits()


class _Sums:
    """The sums of one queue."""

    def __init__(self, tree: Tree, placements: Sequence[ModelPlacement], room: PoolRoom) -> None:
        self.tree = tree
        self.room = room
        self.reported: set[str | None] = set()
        """Teams, or None for the pool, whose sums have a finding."""
        self.borrowing: set[str] = set()
        self.by_leaf: defaultdict[str | None, list[ModelPlacement]] = defaultdict(list)
        for placement in placements:
            node = placement.options[0].node
            self.by_leaf[node.name if node else None].append(placement)
        self.excluded = any(it.options[0].rank.limit for it in placements)
        """Whether a model alone exceeds the limit of its team."""

    def hits(self) -> Iterator[Hit]:
        """All findings of the queue."""
        for node in self.tree.leaves:
            for placement in self.by_leaf.get(node.name, ()):
                yield from model_limits.check(placement.options[0])
        if self.tree.scheduler == "volcano":
            yield from self._gangs()
        pools = self.tree.pools
        yield from self._of(pools)
        if len(pools) > 1:
            for facts in pools:
                yield from self._of((facts,))

    def _gangs(self) -> Iterator[Hit]:
        """Gangs that reclaim can evict in part: it takes what a queue uses above its deserved amount.

        Source: tests/servers/test_volcano_behaviour.py, test_a_gang_that_borrowed_gives_only_...
        """
        deserved = deserved_amounts(self.tree)
        for placement in (it for them in self.by_leaf.values() for it in them):
            chosen, model = placement.options[0], placement.model
            node, facts, resource = chosen.node, chosen.facts, chosen.size.resource
            if node is None or model.gang is None or model.workload == "serving":
                continue
            if not facts.starts_gangs or not facts.policy.preemption_enabled or chosen.rank.limit:
                continue
            need, has = chosen.replicas.piece[resource], deserved[node.name][resource]
            if need > has:
                more = need - node.guarantee[facts.name][resource]
                raised = "use smaller gangs"
                if more <= self._unpromised(node, chosen.pools, resource):
                    raised = f"raise the guarantee to {need}"
                yield warn(
                    rules.GANG_ON_BORROWED_GPUS,
                    f'a gang of model "{model.name}" needs {amount_of(resource, need, has)}, but team '
                    f'"{model.team}" deserves only {amount_of(resource, has, need)} on '
                    f"{chosen.place}, so other teams can reclaim some of its pods while the others "
                    f"keep their GPUs; {raised}, or write a policy of the job "
                    "with event PodEvicted and action RestartJob",
                    model,
                )

    def _of(self, pools: tuple[PoolFacts, ...]) -> Iterator[Hit]:
        """Sums over some pools of the queue, of the models that use no other pool."""
        names = {facts.name for facts in pools}
        for resource in (*pools[0].resources, *HOST):
            parts: defaultdict[str | None, list[Contribution]] = defaultdict(list)
            for node in reversed(self.tree.nodes):
                children = reversed(parts.pop(node.name, []))
                mine = [*self._models(node, names, resource), *children]
                held = self._held(node, pools, resource)
                if not mine and not held:
                    continue
                made, hits = self._node(node, pools, resource, mine)
                yield from hits
                parts[node.parent].append(contributions.with_guarantee(made, held, resource))
            every = [*self._models(None, names, resource), *reversed(parts[None])]
            if every:
                yield from self._exceeded(self._pool_bound(pools, resource), every, resource, None)

    def _models(self, node: TeamNode | None, names: set[str], resource: str) -> list[Contribution]:
        """The models of a leaf that need some of a resource, and that fit its limit alone."""
        found = []
        for placement in self.by_leaf.get(node.name if node else None, ()):
            chosen = placement.options[0]
            each = chosen.replicas.piece.get(resource, 0)
            if each and not chosen.rank.limit and {it.name for it in chosen.pools} <= names:
                found.append(contributions.of_model(placement, resource, each))
        return found

    def _held(self, node: TeamNode, pools: Sequence[PoolFacts], resource: str) -> int:
        """The guarantee of a team, where no other team can borrow it."""
        if self.tree.scheduler == "kube-scheduler" or pools[0].policy.preemption_enabled:
            return 0
        return sum(node.guarantee[it.name].get(resource, 0) for it in pools)

    def _node(
        self,
        node: TeamNode,
        pools: Sequence[PoolFacts],
        resource: str,
        parts: Sequence[Contribution],
    ) -> tuple[Contribution, list[Hit]]:
        """The part of a team in the sum above it, and findings about its own sum."""
        hits: list[Hit] = []
        limit = sum(node.limit[it.name][resource] for it in pools)
        if resource not in counted_resources(pools[0]):
            return contributions.of_team(node, parts, None, resource), hits
        if self.tree.scheduler == "kube-scheduler":
            # Each namespace has its own quota, and no quota sums over child teams.
            for bound, some in self._namespaces(node, pools[0], parts, resource):
                hits += self._exceeded(bound, some, resource, node.name)
            return contributions.of_team(node, parts, limit if node.leaf else None, resource), hits
        bound = self._team_bound(node, pools, resource, limit)
        hits += self._exceeded(bound, parts, resource, node.name)
        if resource in pools[0].resources:
            hits += self._borrowed(node, pools, resource, parts, limit)
        return contributions.of_team(node, parts, limit, resource), hits

    def _team_bound(
        self, node: TeamNode, pools: Sequence[PoolFacts], resource: str, amount: int
    ) -> Ceiling:
        team = node.team
        at = team.quota_at(pools[0].name, "limit")
        if resource in HOST:
            at = team.quota_at(pools[0].name, resource)
        elif profile := pools[0].profiles[pools[0].resources.index(resource)]:
            at /= profile
        parent = self.tree.by_team[node.parent] if node.parent is not None else None
        above = [parent.limit[it.name] if parent else it.available for it in pools]
        fixed = len(pools) == 1 and (parent or pools[0].policy.overcommit_ratio is None)
        children = "" if node.leaf else " and its child teams"
        return Ceiling(
            whose=f'the models of team "{team.name}"{children} on {place_of(pools)}',
            limit=f'the limit of team "{team.name}"',
            amount=amount,
            spare=sum(it[resource] for it in above) - amount if fixed else 0,
            raised="raise the limit",
            at=at,
            minor=self._minor(pools, resource),
        )

    def _pool_bound(self, pools: Sequence[PoolFacts], resource: str) -> Ceiling:
        amount = sum(it.available[resource] for it in pools)
        return Ceiling(
            whose=f"the models of all teams on {place_of(pools)}",
            limit="its capacity",
            amount=amount,
            spare=0,
            raised="",
            at=pools[0].pool.at / "metadata" / "name",
            minor=self._minor(pools, resource),
        )

    def _minor(self, pools: Sequence[PoolFacts], resource: str) -> bool:
        return resource in HOST or len(pools) < len(self.tree.pools)

    def _namespaces(
        self, node: TeamNode, facts: PoolFacts, parts: Sequence[Contribution], resource: str
    ) -> Iterator[tuple[Ceiling, list[Contribution]]]:
        """The models of each namespace of a leaf, and the part of the limit that they have."""
        by_name: defaultdict[str, list[Contribution]] = defaultdict(list)
        for it in parts:
            namespace = it.models[0].options[0].namespace if node.leaf else None
            if namespace is not None:
                by_name[namespace.name].append(it)
        for name, some in by_name.items():
            chosen = some[0].models[0].options[0]
            amount = limit_of(facts, node, chosen.namespace)[resource]
            bound = self._team_bound(node, (facts,), resource, amount)
            if len(node.team.namespaces) > 1:
                limit = f'the part of namespace "{name}" in {bound.limit}'
                bound = replace(bound, limit=limit, spare=0)
            yield bound, some

    def _exceeded(
        self,
        bound: Ceiling,
        parts: Sequence[Contribution],
        resource: str,
        name: str | None,
    ) -> Iterator[Hit]:
        """A finding if the parts do not run together within a bound."""
        if len(parts) < 2 or (bound.minor and name in self.reported):
            return
        always = sum(it.always for it in parts)
        # A model whose most replicas exceed the bound alone has a finding of its own.
        peak = [it for it in parts if it.most <= bound.amount]
        most = sum(it.most for it in peak)
        starting = max(parts, key=lambda it: it.start)
        total = always + starting.start
        if total > bound.amount:
            rule, some = rules.MODELS_EXCEED_LIMIT, [it for it in parts if it.always]
            texts = [it.always_text for it in some]
            if starting.start:
                some.append(starting)
                texts.append(f"and {starting.name} {amount_of(resource, starting.start)} to start")
            text = f"need at least {amount_of(resource, total, bound.amount)} together"
            waiting = [it.name for it in parts if it.start and always + it.start > bound.amount]
            effect = "they never all run at once"
            if always <= bound.amount:
                effect = f"{_list(waiting)} cannot start beside the serving models"
        elif most > bound.amount:
            rule, total, some = rules.PEAK_EXCEEDS_LIMIT, most, peak
            texts = [it.most_text for it in some]
            text = f"need up to {amount_of(resource, most, bound.amount)} together"
            effect = "they never all run at once"
        else:
            return
        self.reported.add(name)
        remedy = self._remedy(bound, some, resource, total)
        yield Hit(
            rule,
            f"{bound.whose} {text} ({_list(texts)}), but {bound.limit} is "
            f"{amount_of(resource, bound.amount, total)}, "
            f"{amount_of(resource, total - bound.amount)} too few, so {effect}; {remedy}",
            bound.at,
            tuple(
                placement.model.at / "metadata" / "name" for it in some for placement in it.models
            ),
        )

    def _remedy(
        self, bound: Ceiling, parts: Sequence[Contribution], resource: str, total: int
    ) -> str:
        remedies = []
        # With a higher limit, models or teams that exceed a limit now would need more.
        known = not self.excluded and not any(it.cut for it in parts)
        if known and total - bound.amount <= bound.spare:
            remedies.append(f"{bound.raised} by {amount_of(resource, total - bound.amount)}")
        if move := self._move(parts, resource, total - bound.amount):
            remedies.append(move)
        if len(remedies) < 2:
            remedies.append("lower the replicas")
        return ", or ".join(remedies)

    def _move(self, parts: Sequence[Contribution], resource: str, excess: int) -> str:
        """Another pool with room for a model that makes enough room here; empty if there is none."""
        for amount, placement in sorted(
            (
                (minimum(it.options[0], resource), it)
                for it in {it.model.name: it for part in parts for it in part.models}.values()
            ),
            key=lambda each: (each[0], each[1].model.name),
        ):
            chosen, *others = placement.options
            for option in others:
                if amount >= excess and option.tree is not chosen.tree and self.room.holds(option):
                    return (
                        f"write placement.pools: [{option.facts.name}] for model "
                        f'"{placement.model.name}", because that pool has room for it'
                    )
        return ""

    def _borrowed(
        self,
        node: TeamNode,
        pools: Sequence[PoolFacts],
        resource: str,
        parts: Sequence[Contribution],
        limit: int,
    ) -> Iterator[Hit]:
        """A finding if the serving models of a leaf together need more than its guarantee."""
        serving = [it for it in parts if it.always]
        always = sum(it.always for it in serving)
        guarantee = sum(node.guarantee[it.name][resource] for it in pools)
        if not node.leaf or not pools[0].policy.preemption_enabled:
            return
        if not guarantee < always <= limit or node.name in self.borrowing:
            return
        self.borrowing.add(node.name)
        bound = Ceiling(
            whose="",
            limit="",
            amount=guarantee,
            spare=self._unpromised(node, pools, resource),
            raised=f"raise the guarantee{' and that of its parent' if node.parent else ''}",
            at=node.team.at,
            minor=False,
        )
        remedy = self._remedy(bound, serving, resource, always)
        if len(serving) == 1:
            model = serving[0].models[0].model
            yield warn(
                rules.SERVING_ON_BORROWED_GPUS,
                f'serving model "{model.name}" needs at least {always} {resource}, but team '
                f'"{model.team}" has the guarantee {guarantee} on {place_of(pools)}, so other '
                f"teams can reclaim the rest at any time; {remedy}",
                model,
            )
            return
        yield Hit(
            rules.SERVING_ON_BORROWED_GPUS,
            f'the serving models of team "{node.team.name}" on {place_of(pools)} need at least '
            f"{amount_of(resource, always, guarantee)} together "
            f"({_list([it.always_text for it in serving])}), but the guarantee is {guarantee}, so "
            f"other teams can reclaim the rest at any time; {remedy}",
            node.team.quota_at(pools[0].name, "guarantee"),
            tuple(it.models[0].model.at / "metadata" / "name" for it in serving),
        )

    def _unpromised(self, node: TeamNode, pools: Sequence[PoolFacts], resource: str) -> int:
        """By how much the guarantee of a team can grow, if those of its parents grow too."""
        if len(pools) > 1:
            return 0
        pool = pools[0].name
        spare = node.limit[pool][resource] - node.guarantee[pool][resource]
        return min(self.tree.rest[pool][resource], spare)


def _list(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return ", ".join(texts[:_SHOWN]) + more
