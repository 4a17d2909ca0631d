"""The clusters of a Platform: the same pools, teams and models, with other versions, sizes and quotas."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from policygen.core.finding import At, Hit
from policygen.core.quoting import quoted
from policygen.core.suggest import suggest
from policygen.spec import rules
from policygen.spec.types import Capacity, ClusterVariant, PoolVariant, Quota, Spec, Team


def of_cluster(spec: Spec, variant: ClusterVariant) -> Spec:
    """The spec with the versions, sizes and quotas of one of its clusters."""
    target = replace(spec.platform.target, **dict(variant.target))
    pools = {it.name: it for it in variant.pools}
    return replace(
        spec,
        platform=replace(spec.platform, target=target, cluster=variant),
        pools=tuple(
            replace(it, capacity=_merged(it.capacity, pools[it.name])) if it.name in pools else it
            for it in spec.pools
        ),
        teams=tuple(_team(it, pools) for it in spec.teams),
    )


_TOGETHER: Final = (
    {"nodes": "nodes", "total_gpus": "totalGPUs", "available_gpus": "availableGPUs"},
    {
        "node_type": "nodeType",
        "node_allocatable": "nodeAllocatable",
        "system_reserved": "systemReserved",
    },
)
"""Fields of a capacity that a cluster replaces together: the size, and the shape of nodes."""


def _merged(base: Capacity, variant: PoolVariant) -> Capacity:
    """The capacity with the size and the shape of nodes of a variant, if it has them."""
    other, at = variant.capacity, variant.at / "capacity"
    elsewhere = list[tuple[str, At]]()
    for names in _TOGETHER:
        values = {it: getattr(other, it) for it in names}
        if any(it is not None for it in values.values()):
            base = replace(base, **values)
            elsewhere += [(it, at / it) for it in names.values()]
    return replace(base, elsewhere=tuple(elsewhere))


def _team(team: Team, pools: Mapping[str, PoolVariant]) -> Team:
    return replace(team, quotas=tuple(_quota(it, team.name, pools) for it in team.quotas))


def _quota(quota: Quota, team: str, pools: Mapping[str, PoolVariant]) -> Quota:
    variants = pools[quota.pool].quotas if quota.pool in pools else ()
    found = next((it for it in variants if it.team == team), None)
    if found is None:
        return quota
    amounts = {"guarantee": found.guarantee, "limit": found.limit}
    written = {name: it for name, it in amounts.items() if it is not None}
    return replace(quota, elsewhere=tuple((it, found.at / it) for it in written), **written)


def check(spec: Spec) -> Iterator[Hit]:
    """Names of pools and teams that are used twice, and teams without a quota for the pool."""
    having = {quota.pool: set[str]() for team in spec.teams for quota in team.quotas}
    for team in spec.teams:
        for quota in team.quotas:
            having[quota.pool].add(team.name)
    teams = {it.name for it in spec.teams}
    for cluster in spec.platform.clusters:
        yield from _twice("name", ((it.name, it.at / "name") for it in cluster.pools))
        for pool in cluster.pools:
            yield from _twice("team", ((it.team, it.at / "team") for it in pool.quotas))
            there = having.get(pool.name, set())
            for entry in pool.quotas:
                if entry.team in teams - there:
                    yield Hit(
                        rules.UNKNOWN_REFERENCE,
                        f"Team {quoted(entry.team)} has no quota for pool {quoted(pool.name)}; "
                        f"{suggest(entry.team, there, 'Team with such a quota')}",
                        entry.at / "team",
                    )


def _twice(key: str, names: Iterable[tuple[str, At]]) -> Iterator[Hit]:
    first: dict[str, int] = {}
    for index, (name, at) in enumerate(names, 1):
        if name in first:
            yield Hit(
                rules.DUPLICATE_ENTRY,
                f"{key} {quoted(name)} is already in entry {first[name]} of this list; remove one of the two "
                "entries",
                at,
            )
        first.setdefault(name, index)
