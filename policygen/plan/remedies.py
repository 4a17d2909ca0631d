"""Changes that let models run together, proposed only if they lead to no other finding."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from policygen.core.quoting import listed
from policygen.plan import contributions, model_limits, model_nodes
from policygen.plan.amounts import HOST, amount_of
from policygen.plan.assignment import Assignment, ModelPlacement
from policygen.plan.contributions import Contribution
from policygen.plan.guarantees import short, with_more
from policygen.plan.replicas import counted_resources
from policygen.plan.resource_sum import ByLeaf, Excess, ResourceSum
from policygen.plan.rules import PEAK_EXCEEDS_LIMIT
from policygen.plan.tree import TeamNode, Tree
from policygen.spec.types import Model

_TOGETHER = 4
"""The most models that are moved together."""
_MOVABLE = 8
"""The most models of a team of which some are moved together: those that need most."""
_TRIED = 20
"""The number of moves that are checked for one finding, so that the time grows with the findings only."""


class Remedies:
    """The sums of all queues, to compare them before and after a change."""

    def __init__(self, placements: Sequence[ModelPlacement]) -> None:
        self.options = {it.model.name: it.options for it in placements}
        self._by_leaf: defaultdict[str, defaultdict[str | None, list[Assignment]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for it in placements:
            if it.chosen is not None:
                node = it.chosen.node
                self._by_leaf[it.chosen.tree.queue][node.name if node else None].append(it.chosen)
        self._of_team: defaultdict[str, list[Sequence[Assignment]]] = defaultdict(list)
        for it in placements:
            if it.model.team is not None and it.options:
                self._of_team[it.model.team].append(it.options)
        self._has_limited: dict[str, bool] = {}
        self._sums: dict[str, tuple[ResourceSum, ...]] = {}

    def by_leaf(self, tree: Tree) -> ByLeaf:
        """The chosen places of the models in a queue, by the leaf of their team."""
        return self._by_leaf.get(tree.queue, {})

    def sums(self, tree: Tree) -> tuple[ResourceSum, ...]:
        """The sums of a queue: over all its pools first, then over each of several pools."""
        found = self._sums.get(tree.queue)
        if found is None:
            groups = [tree.pools, *((it,) for it in tree.pools if len(tree.pools) > 1)]
            found = self._sums[tree.queue] = tuple(
                ResourceSum(tree, group, resource, self.by_leaf(tree))
                for group in groups
                for resource in (*group[0].resources, *HOST)
            )
        return found

    def of_excess(self, found: Excess, one: ResourceSum) -> str:
        """How to avoid that a sum exceeds."""
        parts = [*found.parts, *found.waiting]
        missing = found.total - found.bound
        move = self._move(parts, one, missing, found.node.name if found.node else None)
        raised = self._raised_limit(found, one, parts)
        # With one replica of each model, the others must have room, too.
        least = sum(it.least_always(one.resource) for it in found.parts)
        least += max((it.start for it in found.waiting), default=0)
        otherwise = ""
        if least > found.bound:
            last = "make the replicas smaller" if found.node else "add nodes to the pool"
            otherwise = f"remove a model, or {last}"
        return _advice(parts, raised, move, otherwise=otherwise)

    def of_guarantee(
        self,
        raised: str,
        parts: Sequence[Contribution],
        one: ResourceSum,
        missing: int,
        *,
        otherwise: str = "",
    ) -> str:
        """How to avoid that models need more than a guarantee; `raised`: how it can be raised.

        `otherwise`: what to do if neither this nor another pool helps, and fewer replicas are not enough.
        """
        move = self._move(parts, one, missing)
        if otherwise:
            return ", or ".join(filter(None, (raised, move))) or otherwise
        return _advice(parts, raised, move)

    def has_room(self, chosen: Assignment) -> bool:
        """Whether a model that exceeds its limit as written leads to no finding in this size."""
        node = chosen.node
        if node is None or model_limits.exceeds(chosen):
            return False
        # A smaller model can be within the limit and guarantee on another pool, and would move there.
        now = chosen.rank._replace(limit=False)
        for option in self.options[chosen.model.name]:
            best = option.rank._replace(limit=False, guarantee=False)
            if option.tree is not chosen.tree and best < now:
                return False
        for it in self.sums(chosen.tree):
            if not it.covers(chosen):
                continue
            part = contributions.of_model(chosen, it.resource)
            before = {found.key for found in it.after(node, {})}
            if any(found.key not in before for found in it.after(node, {part.name: part})):
                return False
            others = [each for each in it.of_leaf(node) if each.name != part.name]
            if it.lends and part.always + sum(each.always for each in others) > it.claim(node):
                return False
        return self._nodes_hold(chosen.tree, [chosen.model], [chosen])

    def _raised_limit(self, found: Excess, one: ResourceSum, parts: Iterable[Contribution]) -> str:
        """By how much to raise the limit; empty if the parent, the pool or other models forbid it."""
        node, tree, pools = found.node, one.tree, one.pools
        if node is None or found.namespace is not None or len(pools) > 1:
            return ""
        # With a higher limit, models or teams that exceed a limit now would need more.
        if self._limited(tree) or any(it.cut for it in parts):
            return ""
        parent = tree.parent(node)
        if parent is None and pools[0].policy.overcommit_ratio is not None:
            return ""
        above = (parent.limit[pools[0].name] if parent else pools[0].available)[one.resource]
        more = found.total - found.bound
        if found.total > above or self._attracts(one, node) or not self._nodes_hold(tree):
            return ""
        # What else exceeds there is not reported yet, such as cpu.
        others = (it.after(node, {}) for it in self.sums(tree) if it is not one)
        if any(it.key[1] == node.name for excesses in others for it in excesses):
            return ""
        before = {it.key for it in one.after(node, {})}
        new = {it.key for it in one.after(node, {}, more)} - before
        peak = (PEAK_EXCEEDS_LIMIT.name, node.name)
        if new - {peak}:
            return ""
        wait = ", though some replicas still wait" if peak in new else ""
        raised = f"raise the limit by {amount_of(one.resource, more)}{wait}"
        always = sum(it.always for it in found.parts)
        has = node.guarantee[pools[0].name].get(one.resource, 0)
        if node.leaf and one.lends and always > max(has, found.bound):
            # With a guarantee as high as the limit, no finding shows yet that they borrow.
            guarantee = self.raised_guarantee(one, node, always - has, more)
            if guarantee:
                return f"{raised}, and {guarantee}"
            if one.claim(node) >= found.bound:
                return ""
        return "" if self._others_short(one, node, more) else raised

    def raised_for_model(self, chosen: Assignment, resource: str) -> str:
        """To what to raise the limit for a model that exceeds it alone; empty if that leads to more findings."""
        node, tree = chosen.node, chosen.tree
        of_pools = [it for it in self.sums(tree) if it.pools == chosen.pools]
        one = next((it for it in of_pools if it.resource == resource), None)
        if node is None or one is None or len(one.pools) > 1 or self._attracts(one, node):
            return ""
        if tree.scheduler == "kube-scheduler" and len(node.team.namespaces) > 1:
            return "raise the limit"
        peers = [it for it in self.by_leaf(tree)[node.name] if it.model is not chosen.model]
        pool, parent = one.pools[0], tree.parent(node)
        if any(map(model_limits.exceeds, peers)) or [*model_limits.exceeded(chosen)] != [resource]:
            return ""
        if parent is None and pool.policy.overcommit_ratio is not None:
            return ""
        # What else exceeds there is not reported yet, such as cpu.
        others = (found for it in self.sums(tree) if it is not one for found in it.after(node, {}))
        if any(it.key[1] == node.name for it in others):
            return ""
        limit, each = one.limit(node), chosen.replicas.piece[resource]
        beside = [
            it for it in one.parts.get(node.name, {}).values() if it.name != chosen.model.name
        ]
        least, most = chosen.replicas.least * each, model_limits.most(chosen) * each
        always = sum(it.always for it in beside)
        top = (parent.limit[pool.name] if parent else pool.available)[resource]
        targets = {always + least, always + most, sum(it.most for it in beside) + most, least, most}
        for target in sorted(targets, reverse=True):
            if max(limit, least - 1) < target <= top and (
                raised := self._raised_to(chosen, node, one, always, target)
            ):
                return raised
        return ""

    def _raised_to(
        self, chosen: Assignment, node: TeamNode, one: ResourceSum, always: int, target: int
    ) -> str:
        """How to raise a limit to a target; empty if this leads to more findings.

        `always`: what the other serving models of the team need.
        """
        resource, pool = one.resource, one.pools[0].name
        limit = one.limit(node)
        if not self._nodes_hold(one.tree):
            return ""
        new: set[tuple[str, str | None]] = set()
        for it in self.sums(one.tree):
            part = contributions.of_model(chosen, it.resource) if it.covers(chosen) else None
            change = {chosen.model.name: part} if part else {}
            after = it.after(node, change, target - limit if it is one else 0)
            new |= {found.key for found in after} - {found.key for found in it.after(node, {})}
        peak = (PEAK_EXCEEDS_LIMIT.name, node.name)
        if new - {peak}:
            return ""
        short = target < model_limits.most(chosen) * chosen.replicas.piece[resource]
        wait = ", though some replicas still wait" if new or short else ""
        to = amount_of(resource, target)
        own = model_limits.held(chosen, resource)
        held = own + always if own else 0
        more = held - node.guarantee[pool].get(resource, 0)
        if more <= 0 or not self.raised_guarantee(one, node, more, target - limit):
            # With a guarantee as high as the limit, and for gangs, no finding shows yet that they borrow.
            reported = one.claim(node) < min(held, limit) and chosen.replicas.always
            if (more > 0 and not reported) or self._others_short(one, node, target - limit):
                return ""
            return f"raise the limit to {to}{wait}"
        above = (
            f", and the guarantees of its parents by {more}"
            if any(one.tree.ancestors(node))
            else ""
        )
        if held == target:
            return f"raise limit and guarantee to {to}{wait}{above}"
        return f"raise the limit to {to}{wait}, and the guarantee to {amount_of(resource, held)}{above}"

    def raised_guarantee(self, one: ResourceSum, node: TeamNode, more: int, limit: int = 0) -> str:
        """By how much to raise the guarantee of a team and of its parents; empty if that is impossible.

        `limit`: by how much the limit grows at the same time.
        """
        tree, pool, resource = one.tree, one.pools[0].name, one.resource
        if len(one.pools) > 1 or self._attracts(one, node):
            return ""
        team = tree.by_team[node.team.name]
        above = [*tree.ancestors(team)]
        own = team.limit[pool][resource] + limit - team.guarantee[pool][resource]
        if more > min(own, tree.spare(above, pool, resource)):
            return ""
        if self._others_short(one, node, limit, more):
            return ""
        parents = ("", " and that of its parent", " and those of its parents")[min(len(above), 2)]
        return f"raise the guarantee{parents} by {amount_of(resource, more)}"

    def _others_short(
        self, one: ResourceSum, node: TeamNode, limit: int, guarantee: int = 0
    ) -> bool:
        """Whether models need more than their team deserves if a limit or guarantee of Volcano grows.

        Other teams then deserve less. In Kueue, a guarantee does not depend on other teams.
        """
        tree, names = one.tree, {node.name, node.team.name}
        if tree.scheduler != "volcano" or not one.lends:
            return False
        above = {it.name for it in tree.ancestors(tree.by_team[node.team.name])}
        raised = with_more(tree, one, names, limit=limit)
        raised = with_more(raised, one, names | above, guarantee=guarantee)
        return bool(short(raised, one) - short(tree, one))

    def _limited(self, tree: Tree) -> bool:
        """Whether a model of a queue alone exceeds the limit of its team."""
        found = self._has_limited.get(tree.queue)
        if found is None:
            chosen = (it for them in self.by_leaf(tree).values() for it in them)
            found = any(map(model_limits.exceeds, chosen))
            self._has_limited[tree.queue] = found
        return found

    def _attracts(self, one: ResourceSum, node: TeamNode) -> bool:
        """Whether other models of a team, or of teams below, would move to the pool if its quota were larger."""
        names = one.tree.teams_from(node.team.name)
        for chosen, *others in (each for name in names for each in self._of_team[name]):
            for it in others:
                better = it.rank._replace(limit=False, guarantee=False)
                if it.tree is one.tree and chosen.tree is not it.tree and better < chosen.rank:
                    return True
        return False

    def _move(
        self,
        parts: Iterable[Contribution],
        one: ResourceSum,
        missing: int,
        place: str | None = "",
    ) -> str:
        """Another pool with room for a model that makes enough room here; empty if there is none.

        If no model alone makes enough room, the fewest models of one team that do so together.
        `place`: the team, or None for the pools, where nothing may exceed then.
        """
        models = {it.model.name: it for part in parts for it in part.models}.values()
        large = [it for it in models if it.least(one.resource) >= missing]
        large.sort(key=lambda it: (it.least(one.resource), it.model.name))
        for chosen, option in [*self._elsewhere(large)][:_TRIED]:
            if self._can_leave([chosen], place) and self._can_enter([option]):
                return (
                    f"write placement.pools: [{option.facts.name}] for model "
                    f'"{chosen.model.name}", because that pool has room for it'
                )
        of_teams: defaultdict[str | None, list[Assignment]] = defaultdict(list)
        for it in models:
            if it.least(one.resource):
                of_teams[it.node.name if it.node else None].append(it)
        for of_team in [*of_teams.values()][:_TRIED]:
            if move := self._moves(of_team, one, missing, place):
                return move
        return ""

    def _moves(
        self, models: Iterable[Assignment], one: ResourceSum, missing: int, place: str | None
    ) -> str:
        """Other pools with room for several models of one team; empty if there are none."""
        models = sorted(models, key=lambda it: (-it.least(one.resource), it.model.name))
        if sum(it.least(one.resource) for it in models[:_TOGETHER]) < missing:
            return ""
        options = {
            it.model.name: [
                option for _, option in self._elsewhere([it]) if self._can_enter([option])
            ]
            for it in models[:_TRIED]
        }
        movable = [it for it in models if options.get(it.model.name)]
        groups = [
            group
            for count in range(2, _TOGETHER + 1)
            for group in combinations(movable[:_MOVABLE], count)
            if sum(it.least(one.resource) for it in group) >= missing
        ]
        groups.sort(key=lambda group: (len(group), sum(it.least(one.resource) for it in group)))
        for group in groups[:_TRIED]:
            entered: list[Assignment] = []
            for it in group:
                entered += next(
                    (
                        [option]
                        for option in options[it.model.name]
                        if self._can_enter([*entered, option])
                    ),
                    [],
                )
            if len(entered) == len(group) and self._can_leave(group, place):
                return _moved(entered)
        return ""

    def _elsewhere(self, models: Iterable[Assignment]) -> Iterator[tuple[Assignment, Assignment]]:
        """Models with each of their places in other queues."""
        for chosen in models:
            for option in self.options[chosen.model.name][1:]:
                if option.tree is not chosen.tree and len(option.pools) == 1:
                    yield chosen, option

    def _can_leave(self, models: Sequence[Assignment], place: str | None) -> bool:
        """Whether nothing exceeds at a place without models of one team, and no other finding appears."""
        node = models[0].node
        for it in self.sums(models[0].tree):
            change = {chosen.model.name: None for chosen in models if it.covers(chosen)}
            # What exceeds of cpu and memory there is not reported yet.
            if change or it.resource in HOST:
                before = {found.key for found in it.after(node, {})}
                after = it.after(node, change)
                if any(found.key not in before or found.key[1] == place for found in after):
                    return False
        if self._shown(models) - self._shown(models, stay=True):
            return False
        return self._nodes_hold(models[0].tree, [it.model for it in models])

    def _shown(
        self, models: Sequence[Assignment], *, stay: bool = False
    ) -> set[tuple[str, str | None]]:
        """The findings of sums without models of one team; cpu and memory only if nothing else exceeds there."""
        tree, node = models[0].tree, models[0].node
        shown: set[tuple[str, str | None]] = set()
        exceeded: set[str | None] = set()
        for it in self.sums(tree):
            change = {each.model.name: None for each in models if not stay and it.covers(each)}
            keys = {found.key for found in it.after(node, change)}
            minor = it.resource in HOST or len(it.pools) < len(tree.pools)
            shown |= {key for key in keys if not minor or key[1] not in exceeded}
            exceeded |= {place for _, place in keys}
        return shown

    def _can_enter(self, options: Sequence[Assignment]) -> bool:
        """Whether models of one team can also run on other pools without a finding, within the guarantees."""
        for option in options:
            if option.rank.limit or option.rank.gang or option.size.crowded_by is not None:
                return False
            if model_limits.exceeds(option) or any(model_limits.host_share(option)):
                return False
            node = option.node
            if node is not None and option.tree.scheduler != "kube-scheduler":
                there = [*self.by_leaf(option.tree).get(node.name, ())]
                there += [it for it in options if it.tree is option.tree]
                for resource in counted_resources(option.facts):
                    need = sum(it.least(resource) for it in there)
                    held = node.guarantee[option.facts.name][resource]
                    if option.least(resource) and need > held:
                        return False
            for it in self.sums(option.tree):
                change = {
                    other.model.name: contributions.of_model(other, it.resource)
                    for other in options
                    if other.tree is option.tree and it.covers(other)
                }
                if change and it.after(node, change):
                    return False
        trees = {it.tree.queue: it.tree for it in options}
        return all(
            self._nodes_hold(tree, (), [it for it in options if it.tree is tree])
            for tree in trees.values()
        )

    def _nodes_hold(
        self, tree: Tree, without: Iterable[Model] = (), more: Iterable[Assignment] = ()
    ) -> bool:
        """Whether the nodes of a queue can hold its models without some and with more, if all are within limits."""
        names = {it.name for it in without}
        chosen = (it for them in self.by_leaf(tree).values() for it in them)
        return model_nodes.may_hold(
            tree, [*(it for it in chosen if it.model.name not in names), *more]
        )


def _moved(options: Sequence[Assignment]) -> str:
    """The places of several models: `write placement.pools: [q] for models "a" and "b", ...`."""
    by_pool: dict[str, list[str]] = {}
    for it in options:
        by_pool.setdefault(it.facts.name, []).append(f'"{it.model.name}"')
    places = [
        f"[{pool}] for model{'s' if names[1:] else ''} {listed(names, 'and')}"
        for pool, names in by_pool.items()
    ]
    have = "these pools have" if places[1:] else "that pool has"
    return f"write placement.pools: {' and '.join(places)}, because {have} room for them"


def _advice(parts: Iterable[Contribution], *remedies: str, otherwise: str = "") -> str:
    """The remedies. `otherwise`: what to do if lower replicas are not enough."""
    found = [it for it in remedies if it]
    if len(found) < 2:
        several = any(it.replicas.most > 1 for part in parts for it in part.models)
        found.append(
            otherwise or ("lower the replicas" if several else "make the replicas smaller")
        )
    return ", or ".join(found)
