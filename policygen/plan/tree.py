"""Who may have how much: one tree of teams for each queue, guarantees and limits as vectors.

The rules are those of docs/semantics.md: Σ children's guarantees ≤ the parent's, guarantee
≤ limit ≤ the parent's limit ≤ available, Σ root guarantees ≤ available.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from msgspec import Struct

from policygen import versions
from policygen.finding import At, Hit, Severity
from policygen.plan.amounts import CPU, MEMORY, Vector, apportion, less, text, total
from policygen.plan.pool import PoolFacts
from policygen.spec.echo import quoted
from policygen.spec.types import WHOLE, Amounts, Bounds, Platform, Quota, Spec, Team


class Node(Struct, frozen=True, eq=False):
    """A team in the tree of one queue, or the `<team>.own` leaf of a team with children."""

    name: str
    team: Team
    parent: str | None
    """Name of the node above; None: the queue's root."""
    depth: int
    """1 for a root team."""
    leaf: bool
    """Only leaves take workloads."""
    weight: int
    guarantee: Mapping[str, Vector]
    """By pool."""
    limit: Mapping[str, Vector]
    children: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tree:
    """The teams that share a queue."""

    queue: str
    pools: tuple[PoolFacts, ...]
    """More than one only in a shared queue; then in the order in which they are tried."""
    nodes: tuple[Node, ...]
    """Parents before children, by name within a parent."""
    rest: Mapping[str, Vector]
    """By pool, what no root team is guaranteed."""

    @cached_property
    def by_team(self) -> Mapping[str, Node]:
        """The node of each team, without the `.own` leaves."""
        return {node.name: node for node in self.nodes if node.name == node.team.name}

    @property
    def scheduler(self) -> str:
        """Who schedules the queue's pools."""
        return self.pools[0].scheduler

    @property
    def leaves(self) -> Iterator[Node]:
        """The nodes that take workloads."""
        return (node for node in self.nodes if node.leaf)


def shares(trees: Iterable[Tree]) -> dict[str, list[tuple[PoolFacts, Node]]]:
    """By team, each pool that it has a share of, with its node there."""
    found: dict[str, list[tuple[PoolFacts, Node]]] = {}
    for tree in trees:
        for name, node in tree.by_team.items():
            found.setdefault(name, []).extend((facts, node) for facts in tree.pools)
    return found


_SHOWN_TEAMS = 6


class _Share(Struct, frozen=True):
    """Guarantee and limit of one team on one pool."""

    guarantee: dict[str, int]
    limit: dict[str, int]


_Units = tuple[dict[str, int], dict[str, int]]
"""Guarantee of every resource, and limit of those that have one written."""


def build(spec: Spec, pools: Mapping[str, PoolFacts]) -> tuple[list[Tree], list[Hit]]:
    """The tree of every queue, and every sum that has no rendering.

    The team tree must have no cycles and no dangling references.
    """
    hits: list[Hit] = []
    queues: defaultdict[str, list[PoolFacts]] = defaultdict(list)
    for queue in spec.platform.shared_queues:
        queues[queue.name] = [pools[name] for name in queue.pools if name in pools]
    for facts in pools.values():
        if facts.queue == facts.name:
            queues[facts.name].append(facts)
    order = {team.name: (rank, team) for rank, team in enumerate(_parents_first(spec.teams))}
    quotas: defaultdict[str, dict[str, Quota]] = defaultdict(dict)
    for team in spec.teams:
        for quota in team.quotas:
            if quotas[quota.pool].setdefault(team.name, quota) is not quota:
                message = (
                    f'team "{team.name}" has a quota of pool "{quota.pool}" already; '
                    "make one of the two"
                )
                hits.append(Hit("quota-twice", message, quota.at / "pool"))
    trees = []
    for name in sorted(queue for queue, members in queues.items() if members):
        members = queues[name]
        hits += _unlike(members)
        hits += _crowded(name, members, spec.platform)
        shares: dict[str, dict[str, _Share]] = {}
        for facts in members:
            shares[facts.name] = _Shares(facts, order, quotas[facts.name], hits).all()
        trees.append(_tree(members, order, quotas, shares, hits))
    return trees, hits


def _parents_first(teams: Sequence[Team]) -> list[Team]:
    children: defaultdict[str | None, list[Team]] = defaultdict(list)
    for team in sorted(teams, key=lambda team: team.name):
        children[team.parent].append(team)
    order: list[Team] = []
    level: list[Team] = children[None]
    while level:
        order += level
        level = [child for team in level for child in children[team.name]]
    return order


_Order = Mapping[str, tuple[int, Team]]
"""Every team with its rank, parents first."""


def _in_order(names: Iterable[str], order: _Order) -> list[Team]:
    """Teams by rank, without a look at all the others."""
    return [team for _, team in sorted(order[name] for name in names if name in order)]


def _children(teams: Iterable[Team]) -> dict[str | None, list[Team]]:
    children: dict[str | None, list[Team]] = {}
    for team in teams:
        children.setdefault(team.parent, []).append(team)
    return children


def _unlike(members: Sequence[PoolFacts]) -> Iterator[Hit]:
    """Pools of one queue are alternatives, so they must count and behave alike."""
    first = members[0]
    for facts in members[1:]:
        at = (facts.pool.at / "spec").on_key()
        if facts.resources != first.resources:
            yield Hit(
                "shared-queue-unlike",
                f'pools of one shared queue count the same resources, and "{first.name}" has '
                f"{', '.join(first.resources)}, this one {', '.join(facts.resources)}",
                at,
            )
        for field, words in (
            ("preemption_enabled", "preemptionEnabled"),
            ("topology_aware", "topologyAware"),
        ):
            if getattr(facts.policy, field) != getattr(first.policy, field):
                yield Hit(
                    "shared-queue-unlike",
                    f'pools of one shared queue agree on {words}, and "{first.name}" differs',
                    at,
                )


def _crowded(queue: str, members: Sequence[PoolFacts], platform: Platform) -> Iterator[Hit]:
    """Kueue's bounds on the resource group of a queue: flavors, resources, and their product."""
    if members[0].scheduler != "kueue":
        return
    version = platform.target.kueue
    most = versions.kueue_release(version).max_items
    flavors, resources = len(members), len(members[0].keys)
    cells = versions.KUEUE_GROUP_CELLS
    if resources > most:
        yield Hit(
            "too-many-resources",
            f'queues over pool "{members[0].name}" would count {resources} resources, and Kueue '
            f"{version} takes {most}; cut the pool into fewer MIG profiles, or make two pools",
            (members[0].pool.at / "spec" / "gpu" / "mig" / "instances").on_key(),
        )
    elif flavors > most or flavors * resources > cells:
        bound = min(most, cells // resources)
        at = next(shared.at for shared in platform.shared_queues if shared.name == queue)
        yield Hit(
            "too-many-flavors",
            f'shared queue "{queue}" has {flavors} pools of {resources} resources, and Kueue '
            f"{version} takes {bound}; divide it into several queues",
            at / "pools",
        )


class _Shares:
    """Works out guarantee and limit of every team on one pool."""

    def __init__(
        self,
        facts: PoolFacts,
        order: _Order,
        quotas: Mapping[str, Quota],
        hits: list[Hit],
    ) -> None:
        self.facts = facts
        self.order = _in_order(quotas, order)
        self.children = _children(self.order)
        self.quotas = quotas
        self.hits = hits
        self.shares: dict[str, _Share] = {}
        self.exceeded = False

    def all(self) -> dict[str, _Share]:
        """Every team's share, parents first; faults go to `hits`."""
        units: dict[str, _Units] = {}
        for team in self.order:
            before = len(self.hits)
            counted = self._units(self.quotas[team.name])
            if len(self.hits) == before:
                units[team.name] = counted
        self.order = [team for team in self.order if team.name in units]
        roots = [team for team in self.order if team.parent is None]
        self._by_weight(roots, units)
        root_limits = self._overcommitted(roots, units)
        for team in self.order:
            quota = self.quotas[team.name]
            above = self.shares.get(team.parent) if team.parent is not None else None
            if team.parent is not None and above is None:
                if team.parent not in self.quotas:
                    self._hit(
                        "parent-without-quota",
                        f'team "{team.name}" has a share of pool "{self.facts.name}", and its '
                        f'parent "{team.parent}" has none to give; add the pool to the '
                        "parent's quotas",
                        quota.at / "pool",
                    )
                continue
            wider = above.limit if above else self.facts.available
            guarantee = self.facts.vector(
                units[team.name][0], quota.cpu.guarantee, quota.memory.guarantee
            )
            limit = dict(wider)
            limit_units = {**root_limits.get(team.name, {}), **units[team.name][1]}
            if limit_units:
                whole = {name: wider[name] for name in self.facts.resources}
                limit = self.facts.vector({**whole, **limit_units})
                # What merely comes along with the units gives way to a parent's own words.
                limit[CPU] = min(limit[CPU], wider[CPU])
                limit[MEMORY] = min(limit[MEMORY], wider[MEMORY])
            if quota.cpu.limit is not None:
                limit[CPU] = quota.cpu.limit
            if quota.memory.limit is not None:
                limit[MEMORY] = quota.memory.limit
            self.shares[team.name] = _Share(guarantee, limit)
            self._bounds(team, guarantee, limit, wider)
        self._sums()
        return self.shares

    def _hit(self, rule: str, message: str, at: At) -> None:
        self.hits.append(Hit(rule, message, at))

    def _units(self, quota: Quota) -> _Units:
        nothing = dict.fromkeys(self.facts.resources, 0)
        guarantee = {**nothing, **self._amounts(quota, "guarantee", quota.guarantee)}
        return guarantee, self._amounts(quota, "limit", quota.limit or ())

    def _amounts(self, quota: Quota, field: str, amounts: Amounts) -> dict[str, int]:
        """Units by resource, after a look at how the pool is counted."""
        profiles = self.facts.profiles
        given = dict(amounts)
        at = quota.at / field
        if profiles == (WHOLE,) and set(given) - {WHOLE}:
            self._hit(
                "counted-by-profile",
                f'pool "{self.facts.name}" counts one resource, {self.facts.resources[0]}; '
                f"write {field} as a number",
                at,
            )
        elif profiles != (WHOLE,) and WHOLE in given:
            example = ", ".join(f"{profile}: {given[WHOLE]}" for profile in profiles[:1])
            self._hit(
                "counted-by-profile",
                f'pool "{self.facts.name}" counts instances of {", ".join(profiles)}; '
                f"write {field} by profile, such as {{{example}}}",
                at,
            )
        else:
            for profile in set(given) - set(profiles):
                self._hit(
                    "unknown-mig-profile",
                    f'pool "{self.facts.name}" has no {quoted(profile)}; it has {", ".join(profiles)}',
                    (at / profile).on_key(),
                )
        return self.facts.units(amounts)

    def _by_weight(self, roots: Sequence[Team], units: Mapping[str, _Units]) -> None:
        """Guarantees that are their weight's share of what is available (the articles' queues)."""
        sharing = [team.name for team in roots if self.quotas[team.name].by_weight]
        if not sharing:
            return
        for resource in self.facts.resources:
            taken = sum(units[team.name][0][resource] for team in roots)
            free = max(0, self.facts.available[resource] - taken)
            weights = [self.quotas[name].weight for name in sharing]
            parts = apportion(free, weights, [0] * len(sharing), [free] * len(sharing))
            for name, part in zip(sharing, parts or (), strict=True):
                units[name][0][resource] = part

    def _overcommitted(
        self, roots: Sequence[Team], units: Mapping[str, _Units]
    ) -> dict[str, dict[str, int]]:
        """Limits of root teams that wrote none, where the pool bounds the sum of limits."""
        ratio = self.facts.policy.overcommit_ratio
        limits: dict[str, dict[str, int]] = {team.name: {} for team in roots}
        if ratio is None:
            return limits
        for resource in self.facts.resources:
            available = self.facts.available[resource]
            product = int(available * ratio)
            silent = [team.name for team in roots if resource not in units[team.name][1]]
            written = sum(units[team.name][1].get(resource, 0) for team in roots)
            floors = [units[name][0][resource] for name in silent]
            weights = [self.quotas[name].weight for name in silent]
            parts = apportion(max(0, product - written), weights, floors, [available] * len(silent))
            if written > product or parts is None:
                self._hit(
                    "overcommit-exceeded",
                    f"limits and guarantees of root teams need {written + sum(floors)} "
                    f"{resource}, and overcommitRatio {float(ratio):g} of {available} "
                    f"allows {product}; lower them or raise the ratio",
                    self.facts.pool.at / "spec" / "schedulingPolicy" / "overcommitRatio",
                )
                self.exceeded = True
                continue
            for name, part in zip(silent, parts, strict=True):
                limits[name][resource] = part
        return limits

    def _bounds(self, team: Team, guarantee: Vector, limit: Vector, wider: Vector) -> None:
        quota = self.quotas[team.name]
        rule, whose = "limit-above-available", "what the pool has"
        if team.parent is not None:
            rule, whose = "limit-above-parent", f'that of its parent "{team.parent}"'
        below: set[str] = set()
        above: set[str] = set()
        for resource in self._units_first():
            # Above a limit that is just the wider one, it is the sums that break.
            own = limit[resource] != wider[resource] or self._written(quota, resource, "limit")
            if guarantee[resource] > limit[resource] and own:
                if self._follows(resource, below, [quota]):
                    continue
                below.add(resource)
                self._hit(
                    "limit-below-guarantee",
                    f'team "{team.name}" is guaranteed {text(resource, guarantee[resource])} '
                    f"{resource} and limited to {text(resource, limit[resource])}; "
                    "raise the limit or lower the guarantee",
                    self._place(quota, resource, "limit"),
                )
            if limit[resource] > wider[resource]:
                if self._follows(resource, above, [quota]):
                    continue
                above.add(resource)
                self._hit(
                    rule,
                    f'team "{team.name}" has the limit {text(resource, limit[resource])} '
                    f"{resource}, above {whose}, {text(resource, wider[resource])}; lower it",
                    self._place(quota, resource, "limit"),
                )

    def _sums(self) -> None:
        for team in self.order:
            children = [
                child for child in self.children.get(team.name, ()) if child.name in self.shares
            ]
            if team.name in self.shares and children:
                self._below_parent(team, children)
        roots = [team for team in self.order if team.parent is None and team.name in self.shares]
        if roots:
            self._below_available(roots)
            self._below_ratio(roots)

    def _below_parent(self, team: Team, children: Sequence[Team]) -> None:
        quota, guarantee = self.quotas[team.name], self.shares[team.name].guarantee
        involved = [quota, *(self.quotas[child.name] for child in children)]
        together = self._together(children)
        broken: set[str] = set()
        for resource in self._units_first():
            if together[resource] <= guarantee[resource]:
                continue
            if self._follows(resource, broken, involved):
                continue
            broken.add(resource)
            blamed = quota
            if not self._written(quota, resource, "guarantee"):
                blamed = self._largest(children, resource)
            self._hit(
                "guarantees-above-parent",
                f'child teams of "{team.name}" are guaranteed '
                f"{text(resource, together[resource])} {resource} of pool "
                f'"{self.facts.name}" together, and it has only '
                f"{text(resource, guarantee[resource])}; raise its guarantee or lower theirs",
                self._place(blamed, resource, "guarantee"),
            )

    def _below_available(self, roots: Sequence[Team]) -> None:
        together = self._together(roots)
        involved = [self.quotas[team.name] for team in roots]
        names = ", ".join(f'"{team.name}"' for team in roots[:_SHOWN_TEAMS])
        if len(roots) > _SHOWN_TEAMS:
            names += f" and {len(roots) - _SHOWN_TEAMS} more"
        broken: set[str] = set()
        for resource in self._units_first():
            available = self.facts.available[resource]
            if together[resource] <= available or self._follows(resource, broken, involved):
                continue
            broken.add(resource)
            self._hit(
                "guarantees-above-available",
                f'pool "{self.facts.name}" has {text(resource, available)} {resource} '
                f"available, and root teams ({names}) are guaranteed "
                f"{text(resource, together[resource])}; lower guarantees",
                self._place(self._largest(roots, resource), resource, "guarantee"),
            )

    def _below_ratio(self, roots: Sequence[Team]) -> None:
        """The pool's overcommit ratio binds cpu and memory too, where limits of them are written."""
        ratio = self.facts.policy.overcommit_ratio
        if ratio is None or self.exceeded:
            return
        for resource in (CPU, MEMORY):
            writers = [
                team for team in roots if _own(self.quotas[team.name], resource).limit is not None
            ]
            together = sum(self.shares[team.name].limit[resource] for team in roots)
            product = int(self.facts.available[resource] * ratio)
            if writers and together > product:
                last = max(writers, key=lambda team: self.shares[team.name].limit[resource])
                self._hit(
                    "overcommit-exceeded",
                    f"limits of root teams sum to {text(resource, together)} {resource}, and "
                    f"overcommitRatio {float(ratio):g} allows {text(resource, product)} of pool "
                    f'"{self.facts.name}"; lower them or raise the ratio',
                    self.quotas[last.name].at / resource / "limit",
                )

    def _together(self, teams: Sequence[Team]) -> dict[str, int]:
        return total(self.facts.keys, [self.shares[team.name].guarantee for team in teams])

    def _units_first(self) -> tuple[str, ...]:
        """All resources, those first that the others come along with."""
        return (*self.facts.resources, CPU, MEMORY)

    def _follows(self, resource: str, broken: set[str], quotas: Sequence[Quota]) -> bool:
        """Whether cpu or memory break a rule only since the units do that they come along with."""
        if resource not in (CPU, MEMORY) or broken <= {CPU, MEMORY}:
            return False
        own = [quota.cpu if resource == CPU else quota.memory for quota in quotas]
        return all(bounds.guarantee is None and bounds.limit is None for bounds in own)

    def _largest(self, teams: Sequence[Team], resource: str) -> Quota:
        """The quota with the largest guarantee, of those that write one if there are any."""
        quotas = {team.name: self.quotas[team.name] for team in teams}
        return quotas[
            max(
                quotas,
                key=lambda name: (
                    self._written(quotas[name], resource, "guarantee"),
                    self.shares[name].guarantee[resource],
                ),
            )
        ]

    def _written(self, quota: Quota, resource: str, field: str) -> bool:
        """Whether a quota says this itself, or units that it comes along with."""
        amounts: Amounts | None = getattr(quota, field)
        if resource in (CPU, MEMORY):
            own = quota.cpu if resource == CPU else quota.memory
            return getattr(own, field) is not None or bool(amounts)
        return resource in self.facts.units(amounts or ())

    def _place(self, quota: Quota, resource: str, field: str) -> At:
        """Where a quota says how much of a resource; its other bound where it says only that."""
        if quota.by_weight:
            return quota.at / "weight"
        other = "guarantee" if field == "limit" else "limit"
        if resource in (CPU, MEMORY):
            own = quota.cpu if resource == CPU else quota.memory
            for bound in (field, other):
                if getattr(own, bound) is not None:
                    return quota.at / resource / bound
            return quota.at / (field if getattr(quota, field) else other)
        profile = self.facts.profiles[self.facts.resources.index(resource)]
        for bound in (field, other):
            amounts = dict(getattr(quota, bound) or ())
            if profile in amounts:
                return quota.at / bound / profile if profile else quota.at / bound
        return quota.at / field


def _own(quota: Quota, resource: str) -> Bounds:
    """What a quota itself says of cpu or memory."""
    return quota.cpu if resource == CPU else quota.memory


def _tree(
    members: Sequence[PoolFacts],
    order: _Order,
    quotas: Mapping[str, Mapping[str, Quota]],
    shares: Mapping[str, Mapping[str, _Share]],
    hits: list[Hit],
) -> Tree:
    """The nodes of a queue: its teams, and an `.own` leaf where one has children and namespaces."""
    inside = {team for pool in members for team in shares[pool.name]}
    nothing = {
        facts.name: _Share(dict.fromkeys(facts.keys, 0), dict.fromkeys(facts.keys, 0))
        for facts in members
    }
    nodes: list[Node] = []
    depth: dict[str, int] = {}
    children = _children(_in_order(inside, order))
    for team in _in_order(inside, order):
        depth[team.name] = depth.get(team.parent or "", 0) + 1
        of = {
            facts.name: shares[facts.name].get(team.name, nothing[facts.name]) for facts in members
        }
        below = children.get(team.name, [])
        own = f"{team.name}.own" if below and team.namespaces else None
        node = Node(
            name=team.name,
            team=team,
            parent=team.parent,
            depth=depth[team.name],
            leaf=not below and bool(team.namespaces),
            weight=_weight(team, members, quotas, hits),
            guarantee={pool: share.guarantee for pool, share in of.items()},
            limit={pool: share.limit for pool, share in of.items()},
            children=tuple(child.name for child in below) + ((own,) if own else ()),
        )
        nodes.append(node)
        if not below and not team.namespaces:
            hits.append(_unused(team, next(of for of in members if team.name in shares[of.name])))
        if own:
            promised = {
                facts.name: total(
                    facts.keys,
                    [
                        shares[facts.name].get(child.name, nothing[facts.name]).guarantee
                        for child in below
                    ],
                )
                for facts in members
            }
            nodes.append(
                Node(
                    name=own,
                    team=team,
                    parent=team.name,
                    depth=node.depth + 1,
                    leaf=True,
                    weight=1,
                    guarantee={
                        pool: less(vector, promised[pool])
                        for pool, vector in node.guarantee.items()
                    },
                    limit=node.limit,
                )
            )
    rest = {
        facts.name: less(
            facts.available,
            total(
                facts.keys, [node.guarantee[facts.name] for node in nodes if node.parent is None]
            ),
        )
        for facts in members
    }
    return Tree(members[0].queue, tuple(members), tuple(nodes), rest)


def _unused(team: Team, facts: PoolFacts) -> Hit:
    """A share that no workload can join: an inner team none of whose children has a part of it."""
    return Hit(
        "share-without-namespaces",
        f'team "{team.name}" has a share of pool "{facts.name}" that nothing can use: it has no '
        "namespaces, and none of its child teams has a share; add the pool to the quotas of a "
        "child, or write spec.namespaces",
        next(quota.at for quota in team.quotas if quota.pool == facts.name) / "pool",
        Severity.WARNING,
    )


def _weight(
    team: Team,
    members: Sequence[PoolFacts],
    quotas: Mapping[str, Mapping[str, Quota]],
    hits: list[Hit],
) -> int:
    given = [quota for facts in members if (quota := quotas[facts.name].get(team.name)) is not None]
    for quota in given[1:]:
        if quota.weight != given[0].weight:
            message = (
                f'team "{team.name}" has one queue over these pools and so one weight; '
                f"write {given[0].weight} here too, or change both"
            )
            hits.append(Hit("shared-queue-weights", message, quota.at / "weight"))
    return given[0].weight if given else 1
