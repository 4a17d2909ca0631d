"""Which MIG instances fit on a number of cards together, by the slots of a card.

A card has memory slices, and each profile may start only at some of them. Instances must not
overlap. So the sum of the slices can be small enough although no placement exists.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from policygen.hardware.catalog import MigFamily, MigProfile

Counts = tuple[int, ...]
"""Numbers of instances, one for each profile of a fixed order."""


def layouts(family: MigFamily, names: Sequence[str]) -> tuple[Counts, ...]:
    """The layouts of one card with some profiles, to which no further instance can be added.

    Source: `nvidia-smi mig -lgipp` lists the starts of each profile; NVML's
    nvmlDeviceGetGpuInstancePossiblePlacements refuses instances that overlap.
    """
    profiles = [family.profiles[name] for name in names]
    # The possible counts of the instances that lie before each memory slice.
    before: list[set[Counts]] = [set() for _ in range(family.memory_slices + 1)]
    before[0].add((0,) * len(profiles))
    for slot in range(family.memory_slices):
        for counts in before[slot]:
            before[slot + 1].add(counts)
            for place, profile in enumerate(profiles):
                more = _add(counts, place)
                if slot in profile.starts and _allowed(family, profiles, more):
                    before[slot + profile.memory_slices].add(more)
    possible = before[-1]
    return tuple(
        sorted(
            counts
            for counts in possible
            if not any(_add(counts, place) in possible for place in range(len(profiles)))
        )
    )


def _add(counts: Counts, place: int) -> Counts:
    return (*counts[:place], counts[place] + 1, *counts[place + 1 :])


def _allowed(family: MigFamily, profiles: Sequence[MigProfile], counts: Counts) -> bool:
    """Whether instances do not need more than a card has, apart from memory slices."""
    chosen = list(zip(profiles, counts, strict=True))
    return (
        all(count <= profile.max_per_gpu for profile, count in chosen)
        and sum(profile.compute_slices * n for profile, n in chosen) <= family.compute_slices
        and all(
            sum(dict(profile.engines).get(engine, 0) * n for profile, n in chosen) <= has
            for engine, has in family.engines
        )
    )


def cards_needed(layouts: Sequence[Counts], needs: Counts) -> int:
    """The smallest number of cards that hold `needs` instances, exactly."""
    return sum(fewest_cards(layouts, needs))


def fewest_cards(layouts: Sequence[Counts], needs: Counts) -> Counts:
    """The numbers of cards of each layout that hold `needs` instances; no other have a smaller sum.

    Every card has one of the layouts. The linear relaxation gives a lower bound, and a number of
    cards of each layout that can be a fraction. Branch and bound continues with "at most" and "at
    least" the integers beside one of the fractions, until a rounded solution meets the bound.
    """
    limits = [_Limit(tuple(layout[i] for layout in layouts), need) for i, need in enumerate(needs)]
    fewest = _rounded(layouts, needs, [0] * len(layouts))
    branches = [limits]
    while branches:
        limits = branches.pop()
        solved = _relaxed(len(layouts), limits)
        if solved is None:
            continue
        amounts, scale = solved
        bound = -(-sum(amounts) // scale)
        if bound >= sum(fewest):
            continue
        rounded = _rounded(layouts, needs, [amount // scale for amount in amounts])
        fewest = min(fewest, rounded, key=sum)
        if bound < sum(fewest):
            split = max(range(len(layouts)), key=lambda it: amounts[it] % scale)
            down = amounts[split] // scale
            sign = tuple(int(it == split) for it in range(len(layouts)))
            branches.append([*limits, _Limit(tuple(-it for it in sign), -down)])
            branches.append([*limits, _Limit(sign, down + 1)])
    return fewest


def most(layouts: Sequence[Counts], needs: Counts, place: int, cards: int) -> int:
    """The most instances of one profile that fit on cards beside the others; -1 if those do not fit."""
    low, high = -1, needs[place]
    while low < high:
        middle = (low + high + 1) // 2
        if cards_needed(layouts, (*needs[:place], middle, *needs[place + 1 :])) <= cards:
            low = middle
        else:
            high = middle - 1
    return low


def _rounded(layouts: Sequence[Counts], needs: Counts, chosen: Sequence[int]) -> Counts:
    """Cards that hold all instances: the chosen ones, and for the rest the layouts that hold most."""
    total = list(chosen)
    left = [
        max(0, need - sum(layout[i] * n for layout, n in zip(layouts, chosen, strict=True)))
        for i, need in enumerate(needs)
    ]
    while any(left):
        best = max(range(len(layouts)), key=lambda it: sum(map(min, layouts[it], left)))
        pairs = list(zip(left, layouts[best], strict=True))
        # While each card of a layout is filled as the first one, no other layout holds more.
        cards = min(max(1, need // held) for need, held in pairs if need and held)
        left = [max(0, need - held * cards) for need, held in pairs]
        total[best] += cards
    return tuple(total)


class _Limit(NamedTuple):
    """A weighted sum of the numbers of cards of each layout is at least a number."""

    weights: tuple[int, ...]
    least: int


def _relaxed(layouts: int, limits: Sequence[_Limit]) -> tuple[list[int], int] | None:
    """The numbers of cards of each layout with the smallest sum, as numerators and one denominator.

    None if no numbers meet the limits. This is the simplex method on the dual problem, whose first
    solution is zero. All entries are integers over one denominator, so the result is exact.
    Bland's rule chooses the pivots, so the method ends.
    """
    width = len(limits)
    rows = [[*(it.weights[row] for it in limits), 1] for row in range(layouts)]
    rows.append([*(-it.least for it in limits), 0])
    goal = rows[-1]
    # Variables 0 to width - 1 are the limits, the others are the layouts.
    columns, basis = list(range(width)), list(range(width, width + layouts))
    scale = 1
    while entering := [it for it in range(width) if goal[it] < 0]:
        column = min(entering, key=lambda it: columns[it])
        leaving = [it for it in range(layouts) if rows[it][column] > 0]
        if not leaving:
            return None
        row = min(leaving, key=lambda it: (Fraction(rows[it][-1], rows[it][column]), basis[it]))
        pivot = rows[row][column]
        for line in rows:
            if line is not rows[row] and (factor := line[column]):
                line[:] = [
                    (value * pivot - factor * other) // scale
                    for value, other in zip(line, rows[row], strict=True)
                ]
                line[column] = -factor
            elif line is not rows[row]:
                line[:] = [value * pivot // scale for value in line]
        rows[row][column] = scale
        scale = pivot
        columns[column], basis[row] = basis[row], columns[column]
    amounts = [0] * layouts
    for column, variable in enumerate(columns):
        if variable >= width:
            amounts[variable - width] = goal[column]
    return amounts, scale
