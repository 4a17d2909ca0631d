"""What a change of a spec does to pools, teams and models."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from policygen.plan.amounts import HOST, Vector
from policygen.plan.assignment import Assignment
from policygen.plan.decisions import Decisions


class Pair(Struct, frozen=True):
    """An amount before and after; None where it does not exist. Units as in `plan.amounts`."""

    before: int | None
    after: int | None

    @property
    def changed(self) -> bool:
        """Whether the two differ."""
        return self.before != self.after


class QuotaChange(Struct, frozen=True):
    """The quota of a team for one resource of a pool."""

    team: str
    resource: str
    guarantee: Pair
    limit: Pair
    weight: Pair


class PoolChange(Struct, frozen=True):
    """A pool whose amounts or quotas change."""

    pool: str
    available: tuple[tuple[str, Pair], ...]
    """The changed amounts for all teams together, by resource. Cpu and memory only if no other changes."""
    quotas: tuple[QuotaChange, ...]
    """By team. Cpu and memory only if no other resource of the team changes."""


class ModelChange(Struct, frozen=True):
    """A model that runs elsewhere, appears or disappears, or borrows other amounts."""

    model: str
    exists: tuple[bool, bool]
    """Before and after."""
    places: tuple[str | None, str | None]
    """The pool or shared queue; None if it fits no pool."""
    borrowing: Pair
    """Replicas that run all the time on GPUs above the guarantee of the team."""
    replicas: int
    """That run all the time, after the change."""


class Consequences(Struct, frozen=True):
    """What changes for people."""

    pools: tuple[PoolChange, ...]
    models: tuple[ModelChange, ...]


class _Quota(Struct, frozen=True):
    guarantee: Vector
    limit: Vector
    weight: int | None


_NO_QUOTA = _Quota({}, {}, None)


def consequences(old: Decisions, new: Decisions) -> Consequences:
    """The differences between the decisions about two specs."""
    return Consequences(tuple(_pools(old, new)), tuple(_models(old, new)))


def _pools(old: Decisions, new: Decisions) -> Iterator[PoolChange]:
    available = [{it.name: it.available for it in side.pools} for side in (old, new)]
    quotas = [_quotas(side) for side in (old, new)]
    for pool in sorted({*available[0], *available[1]}):
        before, after = (side.get(pool, {}) for side in available)
        was, now = (side.get(pool, {}) for side in quotas)
        changed = [it for team in sorted({*was, *now}) for it in _quota(team, was, now)]
        amounts = _counted(
            [(name, _pair(name, before, after)) for name in dict.fromkeys((*before, *after))]
        )
        if amounts or changed:
            yield PoolChange(pool, amounts, tuple(changed))


def _quotas(decided: Decisions) -> Mapping[str, Mapping[str, _Quota]]:
    """The quotas by pool and team."""
    found: dict[str, dict[str, _Quota]] = {}
    for tree in decided.trees:
        for team, node in tree.by_team.items():
            for pool in node.guarantee:
                found.setdefault(pool, {})[team] = _Quota(
                    node.guarantee[pool], node.limit[pool], node.weight
                )
    return found


def _quota(
    team: str, was: Mapping[str, _Quota], now: Mapping[str, _Quota]
) -> Iterator[QuotaChange]:
    old, new = was.get(team, _NO_QUOTA), now.get(team, _NO_QUOTA)
    made = [
        QuotaChange(
            team,
            name,
            _pair(name, old.guarantee, new.guarantee),
            _pair(name, old.limit, new.limit),
            Pair(old.weight, new.weight),
        )
        for name in dict.fromkeys((*old.limit, *new.limit))
    ]
    changed = [it for it in made if it.guarantee.changed or it.limit.changed or it.weight.changed]
    devices = [it for it in changed if it.resource not in HOST]
    yield from devices or changed


def _counted(amounts: Sequence[tuple[str, Pair]]) -> tuple[tuple[str, Pair], ...]:
    changed = [(name, pair) for name, pair in amounts if pair.changed]
    return tuple([it for it in changed if it[0] not in HOST] or changed)


def _pair(name: str, before: Vector, after: Vector) -> Pair:
    return Pair(before.get(name), after.get(name))


def _models(old: Decisions, new: Decisions) -> Iterator[ModelChange]:
    was, now = (
        {it.model.name: it.options[:1] for it in side.workloads.placements} for side in (old, new)
    )
    borrowing = [_borrowing(side) for side in (old, new)]
    for name in sorted({*was, *now}):
        before, after = was.get(name, ()), now.get(name, ())
        places = tuple(side[0].place if side else None for side in (before, after))
        change = ModelChange(
            name,
            (name in was, name in now),
            (places[0], places[1]),
            Pair(borrowing[0].get(name, 0), borrowing[1].get(name, 0)),
            after[0].replicas.always if after else 0,
        )
        if len({*change.exists}) > 1 or len({*places}) > 1 or change.borrowing.changed:
            yield change


def _borrowing(decided: Decisions) -> Mapping[str, int]:
    """Replicas of serving models above the guarantee of their team, by model.

    The guarantee goes to the models of a team in the order of their names.
    """
    found = {}
    left: dict[tuple[str, str], dict[str, int]] = {}  # by team and pool
    for it in sorted(decided.workloads.assignments, key=lambda it: it.model.name):
        if it.node is None or not it.replicas.always:
            continue
        borrowing = it.replicas.always
        for pool in it.pools:
            rest = left.setdefault((it.node.name, pool.name), dict(it.node.guarantee[pool.name]))
            borrowing -= _taken(it, borrowing, rest)
        found[it.model.name] = borrowing
    return found


def _taken(it: Assignment, replicas: int, rest: dict[str, int]) -> int:
    """Those of these replicas that the rest of a guarantee holds; their amounts are taken from the rest."""
    devices = {name: amount for name, amount in it.replicas.piece.items() if name not in HOST}
    fits = min((rest.get(name, 0) // amount for name, amount in devices.items()), default=0)
    taken = min(max(fits, 0), replicas)
    for name, amount in devices.items():
        rest[name] = rest.get(name, 0) - taken * amount
    return taken
