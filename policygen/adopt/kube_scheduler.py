"""Pools of kube-scheduler and the teams that share them, which only ResourceQuotas show."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from policygen.adopt.namespaces import REQUESTS, Space
from policygen.adopt.pools import Found
from policygen.adopt.quotas import HERE
from policygen.adopt.trees import POOL_NAME, label, unused
from policygen.core.quantity import MEBIBYTE
from policygen.plan.amounts import CPU, MEMORY
from policygen.plan.pool import PoolFacts
from policygen.spec.types import Bounds, Pool, Quota, SchedulingPolicy


class NamespaceLimits(Struct, frozen=True):
    """What a team may request in its namespaces, by resource."""

    team: str
    namespaces: tuple[str, ...]
    units: Mapping[str, int]
    cpu: int | None
    memory: int | None


def limits(
    owned: Mapping[str, tuple[str, ...]],
    spaces: Mapping[str, Space],
    queued: Mapping[str, frozenset[str]],
    nested: Iterable[str] = (),
) -> list[NamespaceLimits]:
    """The limits of each team for resources that no queue of its own counts.

    `queued` are the resources of each team's queues: a ResourceQuota on them is the backstop of a
    pool. `nested` are the teams with a team above or below. A namespace without a team is a team of its own: the sum of the plan is the same.
    """
    of_team = dict(owned)
    known = {name for names in owned.values() for name in names}
    alone = [it for it in spaces.values() if it.name not in known and it.hard]
    for names in _with_empty(alone):
        of_team[unused(names[0], of_team)] = names
    shared = _of_nested(of_team, spaces, nested)
    found = []
    for team, names in of_team.items():
        parts = [spaces[name] for name in names if name in spaces]
        units: dict[str, int] = {}
        for part in parts:
            for resource, count in part.gpus.items():
                if resource not in queued.get(team, frozenset()):
                    units[resource] = units.get(resource, 0) + count
        units = {name: count for name, count in units.items() if count or name not in shared}
        if units:
            # Without default requests, a quota of cpu refuses containers that request none.
            counts = all(it.defaults for it in parts)
            cpu, memory = (_sum(parts, it) if counts else None for it in (CPU, MEMORY))
            found.append(NamespaceLimits(team, names, units, cpu, memory))
    return found


def _of_nested(
    owned: Mapping[str, tuple[str, ...]], spaces: Mapping[str, Space], nested: Iterable[str]
) -> frozenset[str]:
    """The resources of teams that have teams above or below them.

    No limit can be written as 0. It is what overcommitRatio leaves to root teams if all limits are known, but
    those of teams above are not.
    """
    names = {name for team in nested for name in owned.get(team, ())}
    return frozenset(it for name in names if name in spaces for it in spaces[name].gpus)


def _with_empty(alone: Sequence[Space]) -> list[tuple[str, ...]]:
    """Each namespace for itself, but one with a limit of 0 with another one of its team.

    No quota can have the limit 0: it is the smaller part of a limit that several namespaces share.
    """
    groups: dict[str, list[str]] = {it.name: [it.name] for it in alone if all(it.gpus.values())}
    for space in alone:
        if space.name in groups:
            continue
        able = [it for it in alone if it.name in groups and _are_parts(it, space)]
        if able:
            nearest = max(able, key=lambda it: _common(it.name, space.name))
            groups[nearest.name].append(space.name)
        else:
            groups[space.name] = [space.name]
    return [tuple(names) for names in groups.values()]


def _common(one: str, other: str) -> int:
    """The length of the common beginning of two names."""
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _are_parts(one: Space, other: Space) -> bool:
    """Whether two namespaces can be those of one team, the second one with the smaller parts."""
    return (one.counted, one.defaults, one.hard.keys()) == (
        other.counted,
        other.defaults,
        other.hard.keys(),
    ) and all(
        0 <= one.hard[it] - other.hard[it] <= 1
        for it in one.hard
        if it.removeprefix(REQUESTS) in one.gpus
    )


def _sum(parts: Iterable[Space], resource: str) -> int | None:
    counts = [
        it.hard[f"{REQUESTS}{resource}"] for it in parts if f"{REQUESTS}{resource}" in it.hard
    ]
    return sum(counts) if counts else None


class PoolOfQuotas(Struct, frozen=True):
    """A pool that only ResourceQuotas show: its resource, and whether they count cpu too."""

    resource: str
    counts_cpu: bool

    @property
    def name(self) -> str:
        """Its name in the spec."""
        domain, _, name = self.resource.partition("/")
        end = f"-{CPU}" if self.counts_cpu else ""
        return label(f"{domain.split('.')[0]}-{name}")[: POOL_NAME - len(end)].strip("-") + end


def pools_of(found: Sequence[NamespaceLimits]) -> dict[str, dict[PoolOfQuotas, int]]:
    """The limits of each team, by pool: one pool for each resource.

    A quota of cpu and memory belongs to one pool of its team: the resource that most of the teams
    with such quotas have. One that other teams have without cpu comes last, because it would be two pools.
    """
    plain = {name for it in found if it.cpu is None for name in it.units}
    counting = [it for it in found if it.cpu is not None]
    by_team: dict[str, dict[PoolOfQuotas, int]] = {}
    order: list[str] = []
    left = list(counting)
    while left:
        teams_of: dict[str, int] = {}
        for limit in left:
            for resource in limit.units:
                teams_of[resource] = teams_of.get(resource, 0) + 1
        order.append(max(sorted(teams_of), key=lambda it: (it not in plain, teams_of[it])))
        left = [it for it in left if order[-1] not in it.units]
    for limit in found:
        first = next((it for it in order if it in limit.units), "") if limit.cpu is not None else ""
        by_team[limit.team] = {
            PoolOfQuotas(name, name == first): count for name, count in limit.units.items()
        }
    return by_team


def pools(found: Sequence[NamespaceLimits]) -> list[Found]:
    """The pools of these limits.

    Each has as many GPUs as the largest limit of a team; how many it really has is in no object. Where
    the limit of a team is 0, the other limits are all that an overcommitRatio of 1 allows.
    """
    sums: dict[PoolOfQuotas, dict[str, int]] = {}
    limits_of = {it.team: it for it in found}
    of_teams = pools_of(found)
    full = {pool for units in of_teams.values() for pool, count in units.items() if not count}
    for team, units in of_teams.items():
        for pool, count in units.items():
            available = sums.setdefault(pool, {pool.resource: 0})
            add = sum if pool in full else max
            available[pool.resource] = add((available[pool.resource], count))
            if pool.counts_cpu:
                limit = limits_of[team]
                available[CPU] = add((available.get(CPU, 1), limit.cpu or 0))
                available[MEMORY] = add((available.get(MEMORY, MEBIBYTE), limit.memory or 0))
    for available in sums.values():
        available |= {it: max(count, 1) for it, count in available.items()}
    return [
        Found(
            pool.name,
            "kube-scheduler",
            available,
            Pool(
                name=pool.name,
                at=HERE,
                node_selector=(),
                scheduler="kube-scheduler",
                scheduling_policy=SchedulingPolicy(
                    overcommit_ratio=Fraction(1) if pool in full else None
                ),
                quota_cpu_and_memory=pool.counts_cpu,
            ),
        )
        for pool, available in sorted(sums.items(), key=lambda it: it[0].name)
    ]


def quotas(
    limit: NamespaceLimits, units: Mapping[PoolOfQuotas, int], facts: Mapping[str, PoolFacts]
) -> list[Quota]:
    """The quotas of a team in these pools: only limits, since no object shows what is guaranteed."""
    return [
        Quota(
            pool=pool.name,
            at=HERE,
            limit=((facts[pool.name].profiles[0], count),) if count else None,
            cpu=Bounds(limit=limit.cpu if pool.counts_cpu else None),
            memory=Bounds(limit=limit.memory if pool.counts_cpu else None),
        )
        for pool, count in units.items()
        if pool.name in facts
    ]
