"""What a change of a spec does to pools, teams and models."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from policygen.plan.amounts import HOST, Vector
from policygen.plan.assignment import Assignment
from policygen.plan.claims import claims
from policygen.plan.decisions import Decisions
from policygen.plan.workload import availability
from policygen.review.kueue_settings import SettingChange


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
    other_name: str = ""
    """The new name of a team that is gone, or the old name of a new one, if it has the same namespaces."""
    fixed: tuple[tuple[str, int], ...] = ()
    """Guaranteed cpu and memory that stay the same, although the guarantee of the resource changes."""


class PoolChange(Struct, frozen=True):
    """A pool whose amounts or quotas change."""

    pool: str
    available: tuple[tuple[str, Pair], ...]
    """The changed amounts for all teams together, by resource. Cpu and memory only if no other changes."""
    unassigned: tuple[tuple[str, Pair], ...]
    """The changed amounts that no team is guaranteed, by resource, without cpu and memory."""
    quotas: tuple[QuotaChange, ...]
    """By team. Cpu and memory only if no other resource of the team changes."""


class ModelChange(Struct, frozen=True):
    """A model that runs elsewhere, appears or disappears, or borrows other amounts."""

    model: str
    exists: tuple[bool, bool]
    """Before and after."""
    places: tuple[str | None, str | None]
    """The pool or shared queue; None if it fits no pool."""
    needs: tuple[tuple[tuple[str, int], ...], tuple[tuple[str, int], ...]]
    """What a replica, or a gang, takes before and after, by resource, without cpu and memory."""
    replicas: Pair
    """That run all the time. None for models that do not."""
    borrowing: Pair
    """Those that other teams can reclaim, within the limit of the team."""
    beyond: Pair
    """Those above the limit of the team, which never run."""
    spread: tuple[str, str]
    """What separates the replicas before and after: see `availability.separation`."""
    priority: tuple[str | None, str | None]

    @property
    def new_objects(self) -> bool:
        """Whether the objects that run it change: it is new or gone, or its place, size or priority changes."""
        was, now = (
            (self.exists[i], self.places[i], self.needs[i], self.priority[i]) for i in (0, 1)
        )
        separated = self.spread[0] != self.spread[1]
        return was != now or self.replicas.changed or separated


class Consequences(Struct, frozen=True):
    """What changes for people."""

    pools: tuple[PoolChange, ...]
    models: tuple[ModelChange, ...]
    kueue: tuple[SettingChange, ...] = ()
    """The settings that change in Kueue's Configuration."""


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
    rest = [_unassigned(side) for side in (old, new)]
    renamed = _renamed_teams(old, new)
    other_names = renamed | {it: name for name, it in renamed.items()}
    for pool in sorted({*available[0], *available[1]}):
        before, after = (side.get(pool, {}) for side in available)
        was, now = (side.get(pool, {}) for side in quotas)
        changed = [
            replace(it, other_name=other_names.get(team, ""))
            for team in sorted({*was, *now})
            for it in _quota(team, was, now)
        ]
        amounts = _counted(
            [(name, _pair(name, before, after)) for name in dict.fromkeys((*before, *after))]
        )
        if amounts or changed:
            free = [side.get(pool, {}) for side in rest]
            # Of a new or removed pool, nothing moved.
            both = [(name, _pair(name, *free)) for name in free[0] if name in free[1]]
            unassigned = tuple((name, pair) for name, pair in both if pair.changed)
            yield PoolChange(pool, amounts, unassigned, tuple(changed))


def renamed_queues(old: Decisions, new: Decisions) -> dict[tuple[str, str, str], str]:
    """By kind, namespace and name of a queue of a renamed team, its new name."""
    found: dict[tuple[str, str, str], str] = {}
    trees = {it.queue: it for it in new.trees}
    for team, other in _renamed_teams(old, new).items():
        for tree in old.trees:
            node = tree.by_team.get(team)
            now = trees[tree.queue].by_team.get(other) if tree.queue in trees else None
            if node and now:
                name = trees[tree.queue].name_of(now)
                found |= {
                    (kind, "", tree.name_of(node)): name
                    for kind in ("ClusterQueue", "Cohort", "Queue")
                }
    return found


def _renamed_teams(old: Decisions, new: Decisions) -> dict[str, str]:
    """The new name of each team that is gone, if exactly one new team has its namespaces."""
    was, now = ({it.name: it.namespaces for it in side.spec.teams} for side in (old, new))
    gone, added = (
        {
            name: frozenset(it.name for it in spaces)
            for name, spaces in mine.items()
            if name not in other
        }
        for mine, other in ((was, now), (now, was))
    )
    return {
        name: found[0]
        for name, spaces in gone.items()
        if spaces and len(found := [it for it, own in added.items() if own == spaces]) == 1
    }


def _unassigned(decided: Decisions) -> Mapping[str, Vector]:
    """By pool, the devices that no team is guaranteed, if any team has a guarantee of them."""
    return {
        pool: {
            name: count
            for name, count in amounts.items()
            if name not in HOST and any(it.guarantee[pool].get(name) for it in tree.nodes)
        }
        for tree in decided.trees
        for pool, amounts in tree.rest.items()
    }


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
    both = ((name, _pair(name, old.guarantee, new.guarantee)) for name in HOST)
    fixed = tuple((name, it.after) for name, it in both if it.after and not it.changed)
    yield from (replace(it, fixed=fixed if it.guarantee.changed else ()) for it in devices)
    if not devices:
        yield from changed


def _counted(amounts: Sequence[tuple[str, Pair]]) -> tuple[tuple[str, Pair], ...]:
    changed = [(name, pair) for name, pair in amounts if pair.changed]
    return tuple([it for it in changed if it[0] not in HOST] or changed)


def _pair(name: str, before: Vector, after: Vector) -> Pair:
    return Pair(before.get(name), after.get(name))


class _Load(Struct, frozen=True):
    """A model in one spec."""

    exists: bool = False
    place: str | None = None
    needs: tuple[tuple[str, int], ...] = ()
    replicas: int | None = None
    borrowing: int | None = None
    beyond: int | None = None
    spread: str = ""
    priority: str | None = None


def _models(old: Decisions, new: Decisions) -> Iterator[ModelChange]:
    was, now = _loads(old), _loads(new)
    for name in sorted({*was, *now}):
        before, after = was.get(name, _Load()), now.get(name, _Load())
        if before != after:
            yield ModelChange(
                name,
                (before.exists, after.exists),
                (before.place, after.place),
                (before.needs, after.needs),
                Pair(before.replicas, after.replicas),
                Pair(before.borrowing, after.borrowing),
                Pair(before.beyond, after.beyond),
                (before.spread, after.spread),
                (before.priority, after.priority),
            )


def _loads(decided: Decisions) -> Mapping[str, _Load]:
    """Each model. Claim and limit of a team go to its models in the order of their names."""
    found = {}
    claimed = {tree.queue: claims(tree) for tree in decided.trees}
    held: dict[tuple[str, str], dict[str, int]] = {}  # what is left, by team and pool
    limits: dict[tuple[str, str], dict[str, int]] = {}
    for placement in sorted(decided.workloads.placements, key=lambda it: it.model.name):
        name, chosen = placement.model.name, placement.options[:1]
        priority = placement.model.priority
        if not chosen:
            found[name] = _Load(exists=True, priority=priority)
            continue
        it = chosen[0]
        replicas, node = it.replicas.always, it.node
        spread = availability.separation(it)
        needs = tuple(_devices(it).items())
        load = _Load(exists=True, place=it.place, needs=needs, spread=spread, priority=priority)
        if node is not None and replicas:
            borrowing = beyond = replicas
            for pool in it.pools:
                key = node.name, pool.name
                rest = held.setdefault(key, dict(claimed[it.tree.queue][node.name][pool.name]))
                borrowing -= _taken(it, borrowing, rest)
                rest = limits.setdefault(key, dict(node.limit[pool.name]))
                beyond -= _taken(it, beyond, rest)
            load = replace(
                load, replicas=replicas, borrowing=max(borrowing - beyond, 0), beyond=beyond
            )
        found[name] = load
    return found


def _devices(it: Assignment) -> dict[str, int]:
    return {name: amount for name, amount in it.replicas.piece.items() if name not in HOST}


def _taken(it: Assignment, replicas: int, rest: dict[str, int]) -> int:
    """Those of these replicas that the rest of an amount holds; they are taken from the rest."""
    devices = _devices(it)
    fits = min((rest.get(name, 0) // amount for name, amount in devices.items()), default=0)
    taken = min(max(fits, 0), replicas)
    for name, amount in devices.items():
        rest[name] = rest.get(name, 0) - taken * amount
    return taken
