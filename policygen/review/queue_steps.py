"""The applies that change a tree of Volcano's Queues, so that the webhook refuses none of them.

The webhook compares a Queue with the current state of its parent, siblings and children, which it reads
from a cache. So within one apply, each of the other Queues can still have its old amounts, or have its new
ones already. A Queue is changed in an apply only if its family fits with the larger amounts of its children,
and with the smaller ones of the parent.

Source: pkg/webhooks/admission/queues/validate/validate_queue.go of Volcano 1.14.1.
Proven: tests/servers/test_volcano_changes.py applies the steps of drawn changes.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from msgspec import Struct

from policygen.adopt.trees import amount
from policygen.adopt.volcano import VOLCANOS
from policygen.core.quoting import some
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.volcano import Amounts
from policygen.plan.amounts import Vector

_ROOT = "root"


class QueueAmounts(Struct, frozen=True):
    """What the webhook compares of a Queue. Units as in `plan.amounts`."""

    parent: str
    """`root` for a Queue below Volcano's own."""
    capability: Vector
    deserved: Vector
    guarantee: Vector


Queues = Mapping[str, QueueAmounts]


class QueueStep(Struct, frozen=True):
    """One apply."""

    delete: tuple[str, ...]
    """The Queues to delete before, in this order."""
    queues: Queues
    """All Queues of the new state that exist after the apply. Some can still have old amounts."""
    changed: tuple[str, ...]
    """Those that are created, or whose amounts or parent change."""


def queues(cluster: Cluster) -> dict[str, QueueAmounts]:
    """The Queues of a cluster, or of manifests, without those that Volcano creates itself."""
    return {
        it.name: QueueAmounts(
            it.fields.parent or _ROOT,
            _vector(it.fields.capability),
            _vector(it.fields.deserved),
            _vector(it.fields.guarantee.resource),
        )
        for it in cluster.queues
        if it.name not in VOLCANOS
    }


def _vector(amounts: Amounts) -> dict[str, int]:
    return {name: amount(name, value) for name, value in amounts.items()}


def is_refused(old: Queues, new: Queues) -> bool:
    """Whether the webhook refuses a part of one apply of the new Queues, parents first.

    Old Queues that are not among the new ones still exist.
    """
    families = _Families(old)
    for name in _parents_first(new):
        if old.get(name) != new[name] and not families.replace(name, new[name]):
            return True
    return False


def queue_steps(old: Queues, new: Queues, kept: Collection[str] = ()) -> tuple[QueueStep, ...]:
    """The applies that lead from the old Queues to the new ones, at least one.

    An old Queue that is neither new nor kept is deleted if its amounts are needed. If two Queues can
    only change together, amounts are first raised to those of both states. Raises ValueError for new
    Queues that the webhook never accepts.
    """
    now, made, gone = dict(old), list[QueueStep](), tuple[str, ...]()
    left: list[str] = []
    # The second round begins with amounts that fit both states.
    for raised in (False, True, False):
        goal = _both(now, new) if raised else new
        while True:
            moved = _accepted(now, goal)
            if not moved:
                leaving = () if raised else _deletable(now, new, kept)
                if not leaving or now.items() >= goal.items():
                    break
                gone += leaving
                now = {name: state for name, state in now.items() if name not in leaving}
                continue
            now |= moved
            made.append(QueueStep(gone, {it: now[it] for it in new if it in now}, tuple(moved)))
            gone = ()
        if now.items() >= new.items():
            return tuple(made) or (QueueStep((), dict(new), ()),)
        left = left or sorted(it for it in new if now.get(it) != new[it])
    raise ValueError(
        f"Volcano refuses {some([f'Queue {it}' for it in left], 'other')} beside the Queues that stay"
    )


def _accepted(now: Queues, goal: Queues) -> dict[str, QueueAmounts]:
    """The Queues that one apply can change, with their new states."""
    families = _Families(now)
    for name in _parents_first(goal):
        if now.get(name) != goal[name]:
            families.move(name, goal[name])
    return families.moving


class _Families:
    """The Queues below each Queue during one apply, each with all states that the webhook can see."""

    def __init__(self, now: Queues) -> None:
        self._now = dict(now)
        self.moving: dict[str, QueueAmounts] = {}
        """The new states of those that change in this apply."""
        self._below: dict[str, dict[str, list[QueueAmounts]]] = {}
        self._sums: dict[str, list[dict[str, int]]] = {}
        """By parent, the sums of the largest amounts of its children, in the order of _AMOUNTS."""
        for name, state in now.items():
            self._add(name, state)

    def move(self, name: str, state: QueueAmounts) -> None:
        """Change a Queue in this apply, if it is accepted whatever the webhook has seen."""
        if self._fits(name, state):
            self.moving[name] = state
            self._add(name, state)

    def replace(self, name: str, state: QueueAmounts) -> bool:
        """Change a Queue at once, if it is accepted when the webhook has seen all changes. Whether it is."""
        before = self._now.pop(name, None)
        if before is not None:
            del self._below[before.parent][name]
            self._sums[before.parent] = [
                _sum([total, _less({}, field(before))])
                for total, field in zip(self._sums[before.parent], _AMOUNTS, strict=True)
            ]
        if not self._fits(name, state):
            return False
        self._now[name] = state
        self._add(name, state)
        return True

    def _fits(self, name: str, state: QueueAmounts) -> bool:
        below = self._below.get(name, {})
        capabilities = (it.capability for states in below.values() for it in states)
        if below and not _has_room(state, self._sums[name], capabilities):
            return False
        if state.parent == _ROOT:
            return True
        if state.parent not in self._now:
            return False
        sums = self._with(name, state)
        parents = (it.get(state.parent) for it in (self._now, self.moving))
        return all(_has_room(it, sums, (state.capability,)) for it in parents if it)

    def _add(self, name: str, state: QueueAmounts) -> None:
        self._sums[state.parent] = self._with(name, state)
        self._below.setdefault(state.parent, {}).setdefault(name, []).append(state)

    def _with(self, name: str, state: QueueAmounts) -> list[dict[str, int]]:
        """The sums of the parent of a state, with this state of a child."""
        there = self._below.get(state.parent, {}).get(name, [])
        sums = self._sums.get(state.parent, [{} for _ in _AMOUNTS])
        return [
            _sum([total, _less(_largest(map(field, [*there, state])), _largest(map(field, there)))])
            for total, field in zip(sums, _AMOUNTS, strict=True)
        ]


def _has_room(
    parent: QueueAmounts, sums: Collection[Vector], capabilities: Iterable[Vector]
) -> bool:
    """Whether a Queue has room for the sums of its children, and for each of their capabilities."""
    for field, total in zip(_AMOUNTS, sums, strict=True):
        limit = field(parent) or parent.capability
        if any(value > limit.get(key, 0) for key, value in total.items()):
            return False
    every = _largest(capabilities)
    return not any(value > parent.capability.get(key, 0) for key, value in every.items())


def _less(first: Vector, second: Vector) -> dict[str, int]:
    return {key: first.get(key, 0) - second.get(key, 0) for key in {**first, **second}}


_AMOUNTS: tuple[Callable[[QueueAmounts], Vector], ...] = (
    lambda it: it.deserved,
    lambda it: it.guarantee,
)
"""The amounts whose sums the webhook compares. If a parent does not set one, its capability counts."""


def _both(now: Queues, new: Queues) -> dict[str, QueueAmounts]:
    """The Queues with amounts that fit the current and the new state; no parent changes.

    Queues that are below one that leaves stay as they are, until they have moved.
    """
    made: dict[str, QueueAmounts] = {}
    every = {**new, **now}
    fixed = _below_leaving(now, new)
    for name in reversed(list(_parents_first(every))):
        if name in fixed:
            made[name] = now[name]
            continue
        states = [it[name] for it in (now, new) if name in it]
        below = [
            [made[it], *(state[it] for state in (now, new) if it in state)]
            for it in made
            if name in {state[it].parent for state in (now, new) if it in state}
        ]
        sums = {
            field: _sum(_largest(map(field, several)) for several in below) for field in _AMOUNTS
        }
        deserved, guarantee = (_largest([*map(field, states), sums[field]]) for field in _AMOUNTS)
        if not any(it.guarantee for it in states):
            guarantee = {}
        deserved = _largest([deserved, guarantee])
        own = [*states, *(it for several in below for it in several)]
        capability = _largest([*(it.capability for it in own), deserved])
        made[name] = QueueAmounts(states[0].parent, capability, deserved, guarantee)
    return made


def _below_leaving(now: Queues, new: Queues) -> set[str]:
    """The Queues that are not among the new ones, and those below them."""
    found: set[str] = set()
    for name in _parents_first(now):
        if name not in new or now[name].parent in found:
            found.add(name)
    return found


def _deletable(now: Queues, new: Queues, kept: Collection[str]) -> tuple[str, ...]:
    """The Queues to delete, children first, that have no child that stays."""
    found: list[str] = []
    for name in reversed(list(_parents_first(now))):
        below = {it for it, state in now.items() if state.parent == name}
        if name not in new and name not in kept and below <= set(found):
            found.append(name)
    return tuple(found)


def _parents_first(several: Queues) -> Iterator[str]:
    """The names, each after its parent."""
    done: set[str] = set()

    def visit(name: str, above: frozenset[str]) -> Iterator[str]:
        if name in done or name in above or name not in several:
            return
        yield from visit(several[name].parent, above | {name})
        done.add(name)
        yield name

    for name in several:
        yield from visit(name, frozenset())


def _largest(vectors: Iterable[Vector]) -> dict[str, int]:
    found: dict[str, int] = {}
    for vector in vectors:
        for key, value in vector.items():
            found[key] = max(found.get(key, value), value)
    return found


def _sum(vectors: Iterable[Vector]) -> dict[str, int]:
    found: dict[str, int] = {}
    for vector in vectors:
        for key, value in vector.items():
            found[key] = found.get(key, 0) + value
    return found
