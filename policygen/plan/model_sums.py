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
from policygen.plan import rules
from policygen.plan.amounts import HOST, Vector, amount_of
from policygen.plan.fit import warn
from policygen.plan.placement import Assignment, place_of
from policygen.plan.pool import PoolFacts
from policygen.plan.replicas import counted_resources, limit_of
from policygen.plan.tree import TeamNode, Tree
from policygen.plan.volcano import deserved_amounts
from policygen.plan.workloads import ModelPlacement

_SHOWN = 6


class Contribution(Struct, frozen=True):
    """What a model needs of one resource, or all models of a team and of its child teams."""

    name: str
    always: int
    """In use all the time: the least replicas of serving models."""
    start: int
    """What the largest other model needs in addition, at one time, to start."""
    most: int
    """In use if all replicas run."""
    always_text: str
    most_text: str
    models: tuple[ModelPlacement, ...] = ()
    cut: bool = False
    """Whether the models need more, but cannot use it together."""


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
    use = _Use(placements)
    for tree in trees:
        if mine := by_tree.get(tree.queue):
            yield from _Sums(tree, mine, use).hits()


class _Use:
    """The units that all models use at their minimum, to find pools with room."""

    def __init__(self, placements: Sequence[ModelPlacement]) -> None:
        self.units: defaultdict[tuple[str, str | None, str], int] = defaultdict(int)
        for placement in placements:
            for chosen in placement.options[:1]:
                for node in _upwards(chosen):
                    for resource in chosen.replicas.piece:
                        key = (chosen.tree.queue, node.name if node else None, resource)
                        self.units[key] += _minimum(chosen, resource)

    def room(self, option: Assignment) -> bool:
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
                need = _minimum(option, resource)
                key = (option.tree.queue, node.name if node else None, resource)
                if need and self.units[key] + need > bound:
                    return False
        return True


def _safe(facts: PoolFacts, option: Assignment, leaf: TeamNode) -> Vector:
    """What a team can use without borrowing, in the namespace of a model."""
    if facts.scheduler == "kube-scheduler":
        return limit_of(facts, leaf, option.namespace)
    return leaf.guarantee[facts.name]


def _minimum(option: Assignment, resource: str) -> int:
    """What a model needs of a resource to run at all."""
    return option.replicas.piece.get(resource, 0) * max(option.replicas.least, 1)


def _upwards(option: Assignment) -> Iterator[TeamNode | None]:
    """The leaf of a model's team, the nodes above it, and None for the pool."""
    node = option.node
    while node is not None:
        yield node
        node = option.tree.by_team[node.parent] if node.parent is not None else None
    yield None


class _Sums:
    """The sums of one queue."""

    def __init__(self, tree: Tree, placements: Sequence[ModelPlacement], use: _Use) -> None:
        self.tree = tree
        self.use = use
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
                yield from _alone(placement.options[0])
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
                    f'a gang of model "{model.name}" needs {_amount(resource, need, has)}, but team '
                    f'"{model.team}" deserves only {_amount(resource, has, need)} on '
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
                parts[node.parent].append(_reserved(made, held, resource))
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
                found.append(_part(placement, resource, each))
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
            return _total(node, parts, None, resource), hits
        if self.tree.scheduler == "kube-scheduler":
            # Each namespace has its own quota, and no quota sums over child teams.
            for bound, some in self._namespaces(node, pools[0], parts, resource):
                hits += self._exceeded(bound, some, resource, node.name)
            return _total(node, parts, limit if node.leaf else None, resource), hits
        bound = self._team_bound(node, pools, resource, limit)
        hits += self._exceeded(bound, parts, resource, node.name)
        if resource in pools[0].resources:
            hits += self._borrowed(node, pools, resource, parts, limit)
        return _total(node, parts, limit, resource), hits

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
                texts.append(f"and {starting.name} {_amount(resource, starting.start)} to start")
            text = f"need at least {_amount(resource, total, bound.amount)} together"
            waiting = [it.name for it in parts if it.start and always + it.start > bound.amount]
            effect = "they never all run at once"
            if always <= bound.amount:
                effect = f"{_list(waiting)} cannot start beside the serving models"
        elif most > bound.amount:
            rule, total, some = rules.PEAK_EXCEEDS_LIMIT, most, peak
            texts = [it.most_text for it in some]
            text = f"need up to {_amount(resource, most, bound.amount)} together"
            effect = "they never all run at once"
        else:
            return
        self.reported.add(name)
        remedy = self._remedy(bound, some, resource, total)
        yield Hit(
            rule,
            f"{bound.whose} {text} ({_list(texts)}), but {bound.limit} is "
            f"{_amount(resource, bound.amount, total)}, "
            f"{_amount(resource, total - bound.amount)} too few, so {effect}; {remedy}",
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
            remedies.append(f"{bound.raised} by {_amount(resource, total - bound.amount)}")
        if move := self._move(parts, resource, total - bound.amount):
            remedies.append(move)
        if len(remedies) < 2:
            remedies.append("lower the replicas")
        return ", or ".join(remedies)

    def _move(self, parts: Sequence[Contribution], resource: str, excess: int) -> str:
        """Another pool with room for a model that makes enough room here; empty if there is none."""
        for amount, placement in sorted(
            (
                (_minimum(it.options[0], resource), it)
                for it in {it.model.name: it for part in parts for it in part.models}.values()
            ),
            key=lambda each: (each[0], each[1].model.name),
        ):
            chosen, *others = placement.options
            for option in others:
                if amount >= excess and option.tree is not chosen.tree and self.use.room(option):
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
        if len(serving) == 1:
            model = serving[0].models[0].model
            yield warn(
                rules.SERVING_ON_BORROWED_GPUS,
                f'serving model "{model.name}" needs at least {always} {resource}, but team '
                f'"{model.team}" has the guarantee {guarantee} on {place_of(pools)}, so other '
                "teams can reclaim the rest at any time; raise the guarantee",
                model,
            )
            return
        bound = Ceiling(
            whose="",
            limit="",
            amount=guarantee,
            spare=self._unpromised(node, pools, resource),
            raised=f"raise the guarantee{' and that of its parent' if node.parent else ''}",
            at=node.team.at,
            minor=False,
        )
        yield Hit(
            rules.SERVING_ON_BORROWED_GPUS,
            f'the serving models of team "{node.team.name}" on {place_of(pools)} need at least '
            f"{_amount(resource, always, guarantee)} together "
            f"({_list([it.always_text for it in serving])}), but the guarantee is {guarantee}, so "
            "other teams can reclaim the rest at any time; "
            f"{self._remedy(bound, serving, resource, always)}",
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


def _alone(chosen: Assignment) -> Iterator[Hit]:
    """A finding about a model that alone exceeds the limit of its team."""
    model, node, facts, pieces = chosen.model, chosen.node, chosen.facts, chosen.replicas
    if node is None:
        return
    bounds = [limit_of(it, node, chosen.namespace) for it in chosen.pools]
    wholes = [node.limit[it.name] for it in chosen.pools]
    piece = pieces.piece[chosen.size.resource]
    for resource in counted_resources(facts):
        each = pieces.piece.get(resource, 0)
        limit, whole = (sum(it[resource] for it in them) for them in (bounds, wholes))
        if pieces.most * each <= limit:
            continue
        count = len(node.team.namespaces)
        if limit < each <= whole:
            yield warn(
                rules.MODEL_ABOVE_QUOTA,
                f'one replica of model "{model.name}" needs {_amount(resource, each, limit)}, but '
                f"its team's limit of {_amount(resource, whole)} is divided over {count} "
                f"namespaces, {_amount(resource, limit, each)} for this one; raise the limit, or "
                "give the team fewer namespaces",
                model,
            )
            return
        never = pieces.least * each > limit
        need = (pieces.least if never else pieces.most) * each
        where = f"the limit {_amount(resource, limit, need)} on {chosen.place}"
        if limit < whole:
            where += f" in each of its {count} namespaces"
        yield warn(
            rules.MODEL_ABOVE_LIMIT,
            f'model "{model.name}" needs {"at least" if never else "up to"} '
            f'{_amount(resource, need, limit)}, but team "{model.team}" has {where}'
            + (
                ", so the model never runs completely; raise the limit"
                if never
                else "; lower the model's replicas, or raise the limit"
            ),
            model,
        )
        return
    if pieces.pieces(bounds, counted_resources(facts)) < pieces.least:
        yield warn(
            rules.MODEL_ABOVE_LIMIT,
            f'model "{model.name}" needs {_amount(chosen.size.resource, piece)} on one pool, '
            f'but team "{model.team}" has no such limit on a pool of {chosen.place}, so the model '
            "never runs; raise the limit on one pool",
            model,
        )


def _part(placement: ModelPlacement, resource: str, each: int) -> Contribution:
    """What a model needs of a resource."""
    pieces = placement.options[0].replicas
    always = pieces.always * each
    name = placement.model.name

    def text(count: int) -> str:
        amount = _amount(resource, each) if resource in HOST else f"{each}"
        return f"{name} {count} × {amount}" if count > 1 else f"{name} {amount}"

    return Contribution(
        name=name,
        always=always,
        start=0 if pieces.always else pieces.least * each,
        most=pieces.most * each,
        always_text=text(pieces.always),
        most_text=text(pieces.most),
        models=(placement,),
    )


def _total(
    node: TeamNode, parts: Sequence[Contribution], limit: int | None, resource: str
) -> Contribution:
    """What a team and its child teams can use at one time."""
    always, most = sum(it.always for it in parts), sum(it.most for it in parts)
    if limit is None:
        limit = most
    starts = [it.start for it in parts if always + it.start <= limit]
    cut = any(it.cut or always + it.start > limit for it in parts)
    always, most = min(always, limit), min(most, limit)
    name = f"team {node.team.name}"
    return Contribution(
        name=name,
        always=always,
        start=max(starts, default=0),
        most=most,
        always_text=f"{name} {_amount(resource, always) if resource in HOST else always}",
        most_text=f"{name} {_amount(resource, most) if resource in HOST else most}",
        models=tuple(model for it in parts for model in it.models),
        cut=cut,
    )


def _reserved(part: Contribution, held: int, resource: str) -> Contribution:
    """The part with at least the guarantee of its team, if other teams cannot borrow it."""
    if held <= part.always:
        return part
    text = f"{part.name} {_amount(resource, held) if resource in HOST else held} (its guarantee)"
    return replace(
        part,
        always=held,
        start=max(0, part.always + part.start - held),
        most=max(held, part.most),
        always_text=text,
        most_text=part.most_text if part.most > held else text,
    )


def _amount(resource: str, amount: int, beside: int | None = None) -> str:
    return amount_of(resource, amount, beside)


def _list(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return ", ".join(texts[:_SHOWN]) + more
