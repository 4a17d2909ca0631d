"""Finds the weights of Volcano's teams, which no Queue has, from what each queue deserves.

The plan gives a team its guarantee and a share of the rest by its weight. Queues show the sum.
Where they reserve the guarantee, the share is known, so weights are found that make it.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from math import isqrt

from msgspec import Struct

from policygen.adopt.trees import TeamBranch, TeamTree, amount
from policygen.core import quantity
from policygen.kubernetes.untyped import mapping
from policygen.plan.amounts import HOST, Vector, apportion

MOST = 65_535
"""Bound of the schema of a Team."""

_STEPS = 12
_ROUNDS = 20
"""How often the weight of each team is changed until all shares are right."""


def weights(tree: TeamTree) -> dict[str, int]:
    """The weights of teams that make the shares; without the teams whose shares no tried weights make."""
    deserved = {id(it): deserved_units(it, tree) for it in tree.branches}
    by_team = {it.team: it for it in tree.branches if not it.own}
    beside: dict[str | None, list[TeamBranch]] = {}
    for branch in tree.branches:
        beside.setdefault(branch.above, []).append(branch)
    found: dict[str, int] = {}
    for above, group in beside.items():
        whole = tree.available[tree.queue] if above is None else deserved[id(by_team[above])]
        chosen = _of_group(tree, group, whole, [deserved[id(it)] for it in group])
        found |= {it.team: weight for it, weight in chosen.items()}
    return found


def deserved_units(branch: TeamBranch, tree: TeamTree) -> dict[str, int]:
    """The units of the pool that a queue deserves; an invalid amount is omitted."""
    found: dict[str, int] = {}
    for name, value in mapping(branch.object and branch.object.data, "spec", "deserved").items():
        if name in tree.available[tree.queue] and name not in HOST and not isinstance(value, bool):
            with suppress(ValueError):
                if isinstance(value, str | int | float):
                    found[name] = amount(name, quantity.read(value).value)
    return found


def _of_group(
    tree: TeamTree, group: Sequence[TeamBranch], whole: Vector, deserved: Sequence[Vector]
) -> Mapping[TeamBranch, int]:
    """The weights of the teams below one team; empty if none of the tried ones make the shares."""
    floors = [it.guarantee[tree.queue] for it in group]
    if any(it.own for it in group):
        # The leaf of the team itself has what its child teams leave.
        above = next(it for it in tree.branches if not it.own and it.team == group[0].above)
        sure = above.guarantee[tree.queue]
        floors = [
            {
                name: count - sum(other.get(name, 0) for j, other in enumerate(floors) if j != i)
                for name, count in sure.items()
            }
            if it.own
            else floors[i]
            for i, it in enumerate(group)
        ]
    ceilings = [it.limit.get(tree.queue, whole) for it in group]
    wanted = [
        _Division(
            whole[name] - sum(it.get(name, 0) for it in floors),
            [
                most.get(name, whole[name]) - least.get(name, 0)
                for most, least in zip(ceilings, floors, strict=True)
            ],
            [
                it.get(name, 0) - least.get(name, 0)
                for it, least in zip(deserved, floors, strict=True)
            ],
        )
        for name in deserved[0]
    ]
    if not all(it.is_possible for it in wanted):
        return {}
    fixed = [it.own for it in group]
    for tried in _candidates(fixed, wanted):
        if all(it.shares(tried) == it.wanted for it in wanted):
            return {it: weight for it, weight in zip(group, tried, strict=True) if not it.own}
    return {}


class _Division(Struct, frozen=True):
    """What the teams beside each other divide of one resource, and the share that each one has."""

    amount: int
    ceilings: list[int]
    wanted: list[int]

    @property
    def is_possible(self) -> bool:
        """Whether some weights can make these shares: all divide the same sum, and have the same ceilings."""
        whole = min(max(self.amount, 0), sum(self.ceilings))
        below = (it <= most for it, most in zip(self.wanted, self.ceilings, strict=True))
        return sum(self.wanted) == whole and all(below)

    def shares(self, weights: Sequence[int]) -> list[int]:
        """The shares that these weights make."""
        nothing = [0] * len(weights)
        return apportion(self.amount, weights, nothing, self.ceilings) or nothing


def _candidates(fixed: Sequence[bool], wanted: Sequence[_Division]) -> Iterator[list[int]]:
    """Weights in proportion to the shares, then weights found by trial. A team's own leaf (`fixed`) has 1."""
    yield [1] * len(fixed)
    extra = [sum(it) for it in zip(*(it.wanted for it in wanted), strict=True)]
    own = next((count for it, count in zip(fixed, extra, strict=True) if it), None)
    least = min((count for count in extra if count), default=1)
    steps = range(1, 2 * _STEPS)
    scales = [Fraction(least, step) for step in steps]
    if own is not None:
        scales = [own + Fraction(step, _STEPS) - 1 for step in steps]
    scales += [Fraction(sum(extra), MOST)]
    tried = [1] * len(fixed)
    for scale in scales:
        if scale > 0:
            tried = [
                1 if it else min(max(round(count / scale), 1), MOST)
                for it, count in zip(fixed, extra, strict=True)
            ]
            yield tried
    for _ in range(_ROUNDS):
        before = tried
        for index, it in enumerate(fixed):
            if not it:
                tried = _moved(tried, index, wanted)
                yield tried
        if tried == before:
            break


def _moved(weights: Sequence[int], index: int, wanted: Sequence[_Division]) -> list[int]:
    """The weights with another one at an index: in the middle of those that make its shares.

    If no weight makes all of them, between the least one for which no share is too small and the
    largest one for which none is too large.
    """

    def share(weight: int) -> Iterator[int]:
        tried = [*weights[:index], weight, *weights[index + 1 :]]
        return (it.shares(tried)[index] - it.wanted[index] for it in wanted)

    values = range(1, MOST + 1)
    least = bisect_left(values, True, key=lambda it: min(share(it)) >= 0)  # noqa: FBT003 - a key
    most = bisect_left(values, True, key=lambda it: max(share(it)) > 0) - 1  # noqa: FBT003 - a key
    middle = isqrt(values[min(least, MOST - 1)] * values[max(most, 0)])
    return [*weights[:index], middle, *weights[index + 1 :]]
