"""Pools of kube-scheduler and the teams that share them, which only ResourceQuotas show."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from policygen.adopt.namespaces import REQUESTS, Space
from policygen.adopt.pools import Found
from policygen.adopt.quotas import HERE, amounts
from policygen.adopt.trees import POOL_NAME, label, unused
from policygen.core.quantity import MEBIBYTE
from policygen.plan.amounts import CPU, MEMORY
from policygen.plan.pool import PoolFacts
from policygen.spec.types import Bounds, Pool, Quota

_MIG = "mig-"
"""The beginning of the resource of a MIG profile, after the domain."""


class NamespaceLimits(Struct, frozen=True):
    """What a team may request in its namespaces, by resource."""

    team: str
    namespaces: tuple[str, ...]
    units: Mapping[str, int]
    cpu: int | None
    memory: int | None
    apart: frozenset[str] = frozenset()
    """Resources of pods that request more cpu or memory than this: it limits the pods of another pool."""


def limits(
    owned: Mapping[str, tuple[str, ...]],
    spaces: Mapping[str, Space],
    queued: Mapping[str, frozenset[str]],
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
            cpu, memory = (_sum(parts, it) if counts else None for it in (CPU, MEMORY))
            found.append(NamespaceLimits(team, names, units, cpu, memory, apart & units.keys()))
    return found


def _sum(parts: Iterable[Space], resource: str) -> int | None:
    counts = [
        it.hard[f"{REQUESTS}{resource}"] for it in parts if f"{REQUESTS}{resource}" in it.hard
    ]
    return sum(counts) if counts else None


class PoolOfQuotas(Struct, frozen=True):
    """A pool that only ResourceQuotas show: its resources, and whether they count cpu too."""

    resources: tuple[str, ...]
    """Several if they are the MIG profiles of the same cards."""
    counts_cpu: bool

    @property
    def name(self) -> str:
        """Its name in the spec."""
        domain, _, name = self.resources[0].partition("/")
        end = f"-{CPU}" if self.counts_cpu else ""
        name = name if len(self.resources) == 1 else "mig"
        return label(f"{domain.split('.')[0]}-{name}")[: POOL_NAME - len(end)].strip("-") + end


def pools_of(found: Sequence[NamespaceLimits]) -> dict[str, list[PoolOfQuotas]]:
    """The pools of each team: one for each resource, or for the MIG profiles of the same cards.

    A quota of cpu and memory belongs to one pool of its team: the one that most of the teams
    with such quotas have. One that other teams have without cpu comes last, because it would be two pools.
    """
    cards = _cards(found)
    has = {it.team: list(dict.fromkeys(cards[name] for name in it.units)) for it in found}
    plain = {key for it in found if it.cpu is None for key in has[it.team]}
    apart = {cards[name] for it in found for name in it.apart}
    left = [has[it.team] for it in found if it.cpu is not None]
    order: list[tuple[str, ...]] = []
    while left:
        teams_of = Counter(key for keys in left for key in keys)
        order.append(
            max(
                sorted(teams_of),
                key=lambda it: (it not in plain, it not in apart, teams_of[it]),
            )
        )
        left = [keys for keys in left if order[-1] not in keys]
    by_team = {}
    for limit in found:
        mine = has[limit.team]
        first = next((it for it in order if it in mine), ()) if limit.cpu is not None else ()
        by_team[limit.team] = [PoolOfQuotas(it, it == first) for it in mine]
    return by_team


def _cards(found: Iterable[NamespaceLimits]) -> dict[str, tuple[str, ...]]:
    """By resource, those of the same cards: MIG profiles, if every team with one of them has all."""
    made: dict[str, tuple[str, ...]] = {name: (name,) for it in found for name in it.units}
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
    of_teams = pools_of(found)
    for limit in found:
        for pool in of_teams[limit.team]:
            available = sums.setdefault(pool, dict.fromkeys(pool.resources, 1))
            counts = {name: limit.units[name] for name in pool.resources}
            if pool.counts_cpu:
                available |= {CPU: available.get(CPU, 1), MEMORY: available.get(MEMORY, MEBIBYTE)}
                counts |= {CPU: limit.cpu or 0, MEMORY: limit.memory or 0}
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


def quotas(
    limit: NamespaceLimits, pools: Iterable[PoolOfQuotas], facts: Mapping[str, PoolFacts]
) -> list[Quota]:
    """The quotas of a team in these pools: only limits, since no object shows what is guaranteed."""
    return [
        Quota(
            pool=pool.name,
            at=HERE,
            limit=amounts({name: limit.units[name] for name in pool.resources}, facts[pool.name]),
            cpu=Bounds(limit=limit.cpu if pool.counts_cpu else None),
            memory=Bounds(limit=limit.memory if pool.counts_cpu else None),
        )
        for pool in pools
        if pool.name in facts
    ]
