"""Pools of kube-scheduler and the teams that share them, which only ResourceQuotas show."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from policygen.adopt.divisions import Cards, Divided, divide
from policygen.adopt.namespaces import Space
from policygen.adopt.pools import Found
from policygen.adopt.quotas import HERE, amounts
from policygen.adopt.trees import POOL_NAME, ancestors, label, unused
from policygen.core.quantity import MEBIBYTE
from policygen.plan.amounts import CPU, HOST, MEMORY, Vector
from policygen.plan.pool import PoolFacts
from policygen.spec.types import Bounds, Pool, Quota

_STEPS = {CPU: 1, MEMORY: MEBIBYTE}
"""In which steps the plan divides a limit among the namespaces of a team."""
_MIG = "mig-"
"""The beginning of the resource of a MIG profile, after the domain."""


class NamespaceLimits(Struct, frozen=True):
    """What a team may request in its namespaces, by resource."""

    team: str
    namespaces: tuple[str, ...]
    above: tuple[str, ...]
    """The teams above, the nearest first."""
    units: Mapping[str, int]
    host: Mapping[str, tuple[int, ...]]
    """cpu and memory of each namespace; without cpu, its quotas count neither."""
    apart: frozenset[str] = frozenset()
    """Resources of pods that request more cpu or memory than this: it limits the pods of another pool."""

    @property
    def least_pools(self) -> int:
        """How many pools count cpu at least: each gives some namespaces one step more than the others."""
        if CPU not in self.host:
            return 0
        return max(1, *(max(it) - min(it) for it in (self.parts(name) for name in self.host)))

    def parts(self, resource: str) -> tuple[int, ...]:
        """The steps of each namespace."""
        return tuple(it // _STEPS[resource] for it in self.host[resource])


def limits(
    owned: Mapping[str, tuple[str, ...]],
    spaces: Mapping[str, Space],
    queued: Mapping[str, frozenset[str]],
    parents: Mapping[str, str | None],
    apart: frozenset[str] = frozenset(),
) -> list[NamespaceLimits]:
    """The limits of each team for resources that no queue of its own counts.

    `queued` are the resources of each team's queues: a ResourceQuota on them is the backstop of a
    pool. `apart` are the resources of pods that request more cpu or memory than their namespace allows.
    A namespace without a team is a team of its own: the sum of the plan is the same.
    """
    of_team = dict(owned)
    known = {name for names in owned.values() for name in names}
    for space in spaces.values():
        if space.name not in known and space.hard:
            of_team[unused(space.name, of_team)] = (space.name,)
    found = []
    for team, names in of_team.items():
        parts = [spaces[name] for name in names if name in spaces]
        units: dict[str, int] = {}
        for part in parts:
            for resource, count in part.gpus.items():
                if resource not in queued.get(team, frozenset()):
                    units[resource] = units.get(resource, 0) + count
        if units:
            # Without default requests, a quota of cpu refuses containers that request none.
            counts = all(it.defaults for it in parts)
            host = {it: _requested(parts, it) for it in HOST} if counts else {}
            host = {it: amounts for it, amounts in host.items() if amounts}
            above = tuple(ancestors(team, parents))
            found.append(NamespaceLimits(team, names, above, units, host, apart & units.keys()))
    return found


def _requested(parts: Iterable[Space], resource: str) -> tuple[int, ...]:
    return tuple(count for it in parts if (count := it.requested(resource)) is not None)


class PoolOfQuotas(Struct, frozen=True):
    """A pool that only ResourceQuotas show: its resources, and whether they count cpu too."""

    resources: Cards
    """Several if they are the MIG profiles of the same cards."""
    counts_cpu: bool

    @property
    def name(self) -> str:
        """Its name in the spec."""
        domain, _, name = self.resources[0].partition("/")
        end = f"-{CPU}" if self.counts_cpu else ""
        name = name if len(self.resources) == 1 else "mig"
        return label(f"{domain.split('.')[0]}-{name}")[: POOL_NAME - len(end)].strip("-") + end


def pools_of(found: Sequence[NamespaceLimits]) -> dict[str, dict[PoolOfQuotas, Vector]]:
    """The pools of each team, with its limits: one for each resource, or for the MIG profiles of the same cards.

    cpu and memory belong to as few pools of the team as can give its namespaces their parts.
    """
    cards = _cards(found)
    has = {it.team: list(dict.fromkeys(cards[name] for name in it.units)) for it in found}
    host = _host(found, has, _counting(found, cards, has))
    by_team: dict[str, dict[PoolOfQuotas, Vector]] = {}
    for it in found:
        by_team[it.team] = {}
        for pool in has[it.team]:
            more = host.get((it.team, pool), {})
            key = PoolOfQuotas(pool, counts_cpu=bool(more))
            by_team[it.team][key] = {**{name: it.units[name] for name in pool}, **more}
    return by_team


def _host(
    found: Iterable[NamespaceLimits], has: Mapping[str, Sequence[Cards]], counting: Sequence[Cards]
) -> dict[tuple[str, Cards], dict[str, int]]:
    """How much cpu and memory each team has in each of its pools that count them."""
    host: dict[tuple[str, Cards], dict[str, int]] = {}
    for resource, step in _STEPS.items():
        teams = {it.team: it for it in found if CPU in it.host and resource in it.host}
        divided = divide(
            [
                Divided(
                    team,
                    next((name for name in it.above if name in teams), None),
                    it.parts(resource),
                    {
                        pool: sum(it.units[name] for name in pool)
                        for pool in counting
                        if pool in has[team]
                    },
                )
                for team, it in teams.items()
            ]
        )
        for team, division in divided.items():
            for pool, count in division.items():
                host.setdefault((team, pool), {})[resource] = count * step
            # What is less than a step, which the plan does not render, stays in the sum.
            first = host[team, next(iter(division))]
            first[resource] += sum(it % step for it in teams[team].host[resource])
    return host


def _counting(
    found: Iterable[NamespaceLimits],
    cards: Mapping[str, Cards],
    has: Mapping[str, Sequence[Cards]],
) -> list[Cards]:
    """The pools that count cpu; first the pool that most of the teams have that still need one.

    One that other teams have without cpu comes last, because it would be two pools.
    """
    plain = {key for it in found if CPU not in it.host for key in has[it.team]}
    apart = {cards[name] for it in found for name in it.apart}
    order: list[Cards] = []
    least = {
        it.team: it.least_pools if it.least_pools <= len(has[it.team]) else 1
        for it in found
        if CPU in it.host
    }
    while True:
        left = {
            it: [key for key in has[it] if key not in order]
            for it, count in least.items()
            if sum(key in order for key in has[it]) < count
        }
        if not left:
            return order
        teams_of = Counter(key for keys in left.values() for key in keys)
        order.append(
            max(
                sorted(teams_of),
                key=lambda it: (it not in plain, it not in apart, teams_of[it]),
            )
        )


def _cards(found: Iterable[NamespaceLimits]) -> dict[str, Cards]:
    """By resource, those of the same cards: MIG profiles, if every team with one of them has all."""
    made: dict[str, Cards] = {name: (name,) for it in found for name in it.units}
    domains: dict[str, list[str]] = {}
    for name in sorted(made):
        domain, _, own = name.partition("/")
        if own.startswith(_MIG):
            domains.setdefault(domain, []).append(name)
    for names in domains.values():
        if all(len(it.units.keys() & {*names}) in {0, len(names)} for it in found):
            made |= dict.fromkeys(names, tuple(names))
    return made


def pools(found: Sequence[NamespaceLimits]) -> list[Found]:
    """The pools of these limits.

    Each has as many GPUs as the largest limit of a team; how many it really has is in no object.
    """
    sums: dict[PoolOfQuotas, dict[str, int]] = {}
    for limits_of in pools_of(found).values():
        for pool, counts in limits_of.items():
            available = sums.setdefault(pool, dict.fromkeys(pool.resources, 1))
            if pool.counts_cpu:
                available |= {CPU: available.get(CPU, 1), MEMORY: available.get(MEMORY, MEBIBYTE)}
            available |= {name: max(available[name], count) for name, count in counts.items()}
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
                quota_cpu_and_memory=pool.counts_cpu,
            ),
        )
        for pool, available in sorted(sums.items(), key=lambda it: it[0].name)
    ]


def quotas(pools: Mapping[PoolOfQuotas, Vector], facts: Mapping[str, PoolFacts]) -> list[Quota]:
    """The quotas of a team in these pools: only limits, since no object shows what is guaranteed."""
    return [
        Quota(
            pool=pool.name,
            at=HERE,
            limit=amounts({name: most[name] for name in pool.resources}, facts[pool.name]),
            cpu=Bounds(limit=most.get(CPU)),
            memory=Bounds(limit=most.get(MEMORY)),
        )
        for pool, most in pools.items()
        if pool.name in facts
    ]
