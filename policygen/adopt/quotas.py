"""The quotas of a team that the plan turns into the amounts of its queues."""

from collections.abc import Iterable, Mapping

from policygen.adopt.trees import TeamBranch, TeamTree
from policygen.core.finding import At
from policygen.plan.amounts import CPU, HOST, MEMORY, Vector
from policygen.plan.pool import PoolFacts
from policygen.spec.types import WHOLE, Amounts, Bounds, Quota

HERE = At(0)
"""The place of everything that is inferred, since it has no text yet."""


def quotas(
    tree: TeamTree, facts: Mapping[str, PoolFacts], weights: Mapping[str, int]
) -> dict[str, list[Quota]]:
    """The quotas of each team in the pools of a tree.

    Units are always written; a limit only if it is not that of the team above. cpu and memory are
    written where they are not in proportion to the units.
    """
    by_team = {it.team: it for it in tree.branches if not it.own}
    found: dict[str, list[Quota]] = {}
    for team, branch in by_team.items():
        known = [it for it in tree.pools if it in facts and it in branch.guarantee]
        used = [it for it in known if _can_use(branch, by_team, facts[it])]
        for pool in used or known[:1]:
            wider = limit(branch.above, by_team, facts[pool])
            counted = [it for it in HOST if it in tree.available[pool]]
            quota = _quota(branch, wider, facts[pool], weights.get(team, branch.weight), counted)
            found.setdefault(team, []).append(quota)
    return found


def limit(team: str | None, by_team: Mapping[str, TeamBranch], facts: PoolFacts) -> Vector:
    """What a team may use of a pool; all of it above the root teams."""
    if team is None or team not in by_team:
        return facts.available
    branch = by_team[team]
    wider = limit(branch.above, by_team, facts)
    return {**wider, **_within(_known(branch.limit, facts), wider)}


def _within(amounts: Vector, bounds: Vector) -> dict[str, int]:
    """Amounts, none above its bound: no team can use more than the team above."""
    return {name: min(count, bounds[name]) for name, count in amounts.items()}


def _known(amounts: Mapping[str, Vector], facts: PoolFacts) -> Vector:
    vector = amounts.get(facts.name, {})
    return {name: count for name, count in vector.items() if name in facts.available}


def _can_use(branch: TeamBranch, by_team: Mapping[str, TeamBranch], facts: PoolFacts) -> bool:
    """Whether a team can use anything of a pool; in a shared queue, all teams list all pools."""
    most = limit(branch.team, by_team, facts)
    return any(branch.guarantee[facts.name].values()) or any(most.values())


def _quota(
    branch: TeamBranch, wider: Vector, facts: PoolFacts, weight: int, counted: Iterable[str]
) -> Quota:
    """`counted`: cpu and memory, if queues of the tree have quotas of them. A queue without has none."""
    most = _within(_known(branch.limit, facts), wider)
    own = {**dict.fromkeys(counted, 0), **_known(branch.guarantee, facts)}
    guarantee = _within(own, {**wider, **most})
    units = {name: guarantee.get(name, 0) for name in facts.resources}
    least = facts.vector(units)
    whole = {name: wider[name] for name in facts.resources}
    written = {
        name: most[name] for name in facts.resources if most.get(name, wider[name]) != wider[name]
    }
    derived = dict(wider)
    if written:
        derived = facts.vector({**whole, **written})
        derived |= {name: min(derived[name], wider[name]) for name in HOST}
        # Without a limit here, that of the units would be below the guarantee.
        most |= {
            name: wider[name]
            for name in HOST
            if name not in most and guarantee.get(name, 0) > derived[name]
        }
    return Quota(
        pool=facts.name,
        at=HERE,
        guarantee=amounts({name: count for name, count in units.items() if count}, facts),
        limit=amounts(written, facts) or None,
        weight=weight,
        cpu=Bounds(_other(CPU, guarantee, least), _other(CPU, most, derived)),
        memory=Bounds(_other(MEMORY, guarantee, least), _other(MEMORY, most, derived)),
    )


def _other(resource: str, amounts: Vector, derived: Vector) -> int | None:
    """An amount that differs from the derived one."""
    found = amounts.get(resource)
    return None if found is None or found == derived[resource] else found


def amounts(units: Vector, facts: PoolFacts) -> Amounts:
    """Units by resource as the amounts of a quota."""
    profile_of = dict(zip(facts.resources, facts.profiles, strict=True))
    found = tuple(sorted((profile_of[name], count) for name, count in units.items()))
    return found if facts.profiles != (WHOLE,) else tuple((WHOLE, count) for _, count in found)
