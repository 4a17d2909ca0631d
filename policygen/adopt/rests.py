"""Finds guarantees that are below what queues deserve, where rounding left a rest of cpu or memory.

Where Volcano's teams reclaim, what a queue deserves is the guarantee of its team. The own queue of a team
with child teams deserves what these leave, but the plan rounds cpu and memory of each queue down, so a
rest of some 1m and 1Mi belongs to no queue. The spec keeps this rest if the queues share a unit each by weight.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import product

from msgspec import Struct
from msgspec.structs import replace

from policygen.adopt.trees import TeamBranch, TeamTree
from policygen.adopt.weights import MOST
from policygen.core.quantity import MEBIBYTE
from policygen.plan.amounts import CPU, HOST, MEMORY, Vector

_STEPS = {CPU: 1, MEMORY: MEBIBYTE}


class _Extra(Struct, frozen=True):
    """What a team deserves above its guarantee: units, and amounts of cpu and memory."""

    units: int = 0
    amounts: Mapping[str, int] = {}


_NOTHING = _Extra()


class _Sharing(Struct, frozen=True):
    """Queues that get a unit or more each, so that they share a rest."""

    queues: Sequence[TeamBranch]
    units: int


class _NoSolutionError(Exception):
    """The rests of a tree cannot be made by guarantees and weights."""


def with_rests(tree: TeamTree) -> tuple[TeamTree, dict[str, int]]:
    """The tree with lower guarantees, and the weights of its teams that are not 1.

    The same tree, if it has no rests, or if no guarantees are found that make them.
    """
    whole = tree.available[tree.queue]
    units = [name for name in whole if name not in HOST]
    for resource in sorted(units, key=lambda it: -whole[it]):
        found = _Rests(tree, resource)
        with suppress(_NoSolutionError):
            found.solve(None)
            return found.lowered(), found.weights
    return tree, {}


class _Rests:
    """The extras of all queues of a tree, with units of one resource."""

    def __init__(self, tree: TeamTree, resource: str) -> None:
        self.tree = tree
        self.whole = tree.available[tree.queue]
        self.resource = resource
        self.of_team = {it.team: it for it in tree.branches if not it.own}
        self.beside: dict[str | None, list[TeamBranch]] = {}
        for branch in tree.branches:
            self.beside.setdefault(branch.above, []).append(branch)
        self.extras: dict[int, _Extra] = {}
        self.weights: dict[str, int] = {}

    def deserved(self, branch: TeamBranch) -> Vector:
        """What a queue deserves."""
        return branch.guarantee[self.tree.queue]

    def solve(self, above: str | None, least: int = 0) -> _Extra:
        """The extra of a team, so that its own queue and its child teams have what they deserve.

        `least`: the number of queues below it that get a unit even if nothing is left.
        """
        group = self.beside.get(above, [])
        needs = [_NOTHING if it.own else self.solve(it.team) for it in group]
        own = any(it.own for it in group)
        whole = self.whole if above is None else self.deserved(self.of_team[above])
        left = {
            name: whole.get(name, 0) - sum(self.deserved(it).get(name, 0) for it in group)
            for name in (*HOST, self.resource)
        }
        exact = not any(it.units for it in needs) and not (own and (left[CPU] or left[MEMORY]))
        if exact and (not least or (not own and left[self.resource] >= least)):
            return _NOTHING
        if min(left.values()) < 0 or (own and left[self.resource]):
            raise _NoSolutionError
        able = [it for it in group if self.deserved(it).get(self.resource, 0)]
        sharing = [it for it in able if not self._has_teams(it)]
        for deeper in (False, True):
            if deeper:
                sharing += self._with_teams_below(group, needs, able)
            sharing.sort(key=lambda it: (it.own, -sum(self._full(it, name) for name in HOST)))
            sizes = dict.fromkeys((1, max(it.units for it in needs) or 1))
            for count, size in product(range(least, len(sharing) + 1), sizes):
                made = self._shared(group, needs, _Sharing(sharing[:count], size), left)
                if made is not None:
                    return made if own else _NOTHING
        raise _NoSolutionError

    def _with_teams_below(
        self, group: Sequence[TeamBranch], needs: list[_Extra], able: Sequence[TeamBranch]
    ) -> list[TeamBranch]:
        """Teams with child teams that can get a unit, too. Those with a queue of their own are in `needs`."""
        found = []
        for index, it in enumerate(group):
            if not self._has_teams(it) or needs[index].units or it not in able:
                continue
            with suppress(_NoSolutionError):
                needs[index] = self.solve(it.team, least=1)
                if not needs[index].units:
                    found.append(it)
        return found

    def _shared(
        self,
        group: Sequence[TeamBranch],
        needs: Sequence[_Extra],
        shared: _Sharing,
        left: Mapping[str, int],
    ) -> _Extra | None:
        """The extra of the team above, if these queues beside each other get so many units each."""
        sharing, size = shared.queues, shared.units
        units = [
            need.units + size * any(it is each for each in sharing)
            for it, need in zip(group, needs, strict=True)
        ]
        total = sum(units)
        own_shares = any(it.own for it in sharing)
        # The weight of a team's own queue is 1.
        if not total or (own_shares and not (all(units) and size == 1)):
            return None
        if any(self.deserved(it).get(self.resource, 0) < size for it in sharing):
            return None
        amounts: dict[str, int] = {}
        shares: dict[str, int] = {}
        rounding: dict[str, tuple[TeamBranch, int]] = {}
        for name, step in _STEPS.items():
            fixed = [
                _Fixed(need.units, need.amounts.get(name, 0), self._full(it, name))
                for it, need in zip(group, needs, strict=True)
                if need.units
            ]
            open_ones = sum(not self._full(it, name) for it in sharing)
            base = left[name] + sum(it.amount for it in fixed)
            able = (
                it
                for it in sharing
                if self._full(it, name) and self.deserved(it).get(name, 0) >= step
            )
            full = next((it for it in able if not it.own and not self._has_teams(it)), None)
            if full is not None and base % step:
                # The plan shares complete steps, and a full queue takes what is more.
                rounding[name] = full, step - base % step
                fixed.append(_Fixed(size, step - base % step, full=True))
                base += step - base % step
            guesses = {0, 1, 2}
            if total > open_ones * size:
                guesses |= {base // step * size // (total - open_ones * size)}
            each = next(
                (
                    it
                    for it in sorted(guesses)
                    if _fits(
                        (base + open_ones * it * step) // step,
                        total,
                        [*fixed, *[_Fixed(size, it * step, full=False)] * bool(open_ones)],
                        step,
                    )
                ),
                None,
            )
            if each is None or (each and any(self._has_teams(it) for it in sharing)):
                return None
            shares[name] = each * step
            amounts[name] = base + open_ones * each * step
        scale = 1 if own_shares else MOST // max(units)
        for it, need, count in zip(group, needs, units, strict=True):
            mine = {name: each for name, each in shares.items() if not self._full(it, name)}
            mine |= {name: more for name, (full, more) in rounding.items() if full is it}
            self.extras[id(it)] = need if need.units else _Extra(count, mine if count else {})
            if count and not it.own and count * scale > 1:
                self.weights[it.team] = count * scale
        return _Extra(total, amounts)

    def _full(self, branch: TeamBranch, name: str) -> bool:
        """Whether a queue deserves all that its limit allows, so that it takes no more of any share."""
        return self.deserved(branch).get(name) == branch.limit[self.tree.queue].get(name)

    def _has_teams(self, branch: TeamBranch) -> bool:
        return not branch.own and branch.team in self.beside

    def lowered(self) -> TeamTree:
        """The tree with the guarantees without the extras."""
        branches = []
        for branch in self.tree.branches:
            extra = self.extras.get(id(branch), _NOTHING)
            vector = dict(self.deserved(branch))
            less = {self.resource: extra.units, **extra.amounts}
            vector |= {name: vector.get(name, 0) - count for name, count in less.items() if count}
            if min(vector.values(), default=0) < 0:
                raise _NoSolutionError
            branches.append(replace(branch, guarantee={self.tree.queue: vector}))
        return replace(self.tree, branches=tuple(branches))


class _Fixed(Struct, frozen=True):
    """A team that needs so much of a rest; if it is full, more does not count."""

    units: int
    amount: int
    full: bool


def _fits(steps: int, total: int, fixed: Iterable[_Fixed], step: int) -> bool:
    """Whether the plan gives each queue what it needs of these steps."""
    shares = [(it, steps * it.units // total * step) for it in fixed]
    return all(share >= it.amount if it.full else share == it.amount for it, share in shares)
