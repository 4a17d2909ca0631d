"""How cpu or memory of teams is divided among their pools: a ResourceQuota shows only the sum of all pools."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from math import lcm

from msgspec import Struct

from policygen.plan.amounts import part

Cards = tuple[str, ...]
"""The resources of a pool: one, or the MIG profiles of the same cards."""
Division = Mapping[Cards, int]
"""The limit of a team in each of its pools."""
_MOST_STEPS = 12
"""How many limits to try in a pool: enough for teams of up to 4 namespaces."""
_MOST_TRIED = 144
"""How many combinations of limits to try above one start."""


class Divided(Struct, frozen=True):
    """cpu or memory of a team, in the steps in which the plan divides it among namespaces."""

    team: str
    above: str | None
    """The nearest team above that divides it too."""
    parts: tuple[int, ...]
    """What each of its namespaces may request, those with more first."""
    units: Mapping[Cards, int]
    """Its GPUs in each pool; the first pool gets the rest."""

    @property
    def undivided(self) -> Division:
        """All of it in the first pool."""
        first, *others = self.units
        return {first: sum(self.parts), **dict.fromkeys(others, 0)}

    def divisions(
        self, units: Mapping[Cards, int], starts: Iterable[Division], steps: int
    ) -> Iterator[Division]:
        """Divisions that give the namespaces these parts, a few steps above each start.

        The first start is in proportion to these GPUs by pool: those of the root team, so that teams below have
        the same proportion.
        """
        total, whole = sum(self.parts), sum(units[it] for it in self.units)
        first, *others = self.units
        usual = [total * units[it] // max(whole, 1) for it in others]
        for start in (usual, *([least.get(it, 0) for it in others] for least in starts)):
            for more in islice(product(range(steps), repeat=len(others)), _MOST_TRIED):
                counts = [a + b for a, b in zip(start, more, strict=True)]
                if sum(counts) <= total:
                    found = {
                        first: total - sum(counts),
                        **dict(zip(others, counts, strict=True)),
                    }
                    if self._parts(found) == self.parts:
                        yield found

    def _parts(self, division: Division) -> tuple[int, ...]:
        """What a division gives each namespace."""
        count = len(self.parts)
        return tuple(
            sum(part(it, count, index) for it in division.values()) for index in range(count)
        )


def divide(teams: Sequence[Divided]) -> dict[str, Division]:
    """The division of each team, in no pool more than that of the team above.

    Undivided if no division gives the parts, because they were not rendered, or if none is found: only
    some are tried.
    """
    by_team = {it.team: it for it in teams}
    below: dict[str | None, list[Divided]] = {}
    for it in teams:
        below.setdefault(it.above, []).append(it)
    ordered = [*below.get(None, ())]
    root = {it.team: it.team for it in ordered}
    for it in ordered:  # grows: parents first
        for child in below.get(it.team, ()):
            root[child.team] = root[it.team]
            ordered.append(child)
    # By root team and pool, what teams with only this pool need: the teams above must have as much there.
    fixed: dict[str, dict[Cards, int]] = {it: {} for it in root.values()}
    for it in ordered:
        if len(it.units) == 1:
            (pool,) = it.units
            of_tree = fixed[root[it.team]]
            of_tree[pool] = max(sum(it.parts), of_tree.get(pool, 0))
    steps = min(_MOST_STEPS, 2 * lcm(*(len(it.parts) for it in teams)))
    possible: dict[str, list[Division]] = {}
    for it in reversed(ordered):
        children = [possible[child.team] for child in below.get(it.team, ())]
        starts = (_least(children), fixed[root[it.team]])
        made = [*it.divisions(by_team[root[it.team]].units, starts, steps)] or [it.undivided]
        possible[it.team] = [
            one
            for one in made
            if all(any(_is_within(other, one) for other in child) for child in children)
        ]
    found: dict[str, Division] = {}
    for it in ordered:
        most = found[it.above] if it.above is not None else {}
        able = (one for one in possible[it.team] if _is_within(one, most))
        found[it.team] = next(able, it.undivided)
    return {team: found.get(team, it.undivided) for team, it in by_team.items()}


def _least(children: Iterable[Sequence[Division]]) -> dict[Cards, int]:
    """What the limits in each pool must be at least, so that each child has a division."""
    found: dict[Cards, int] = {}
    for several in children:
        for pool in {pool for one in several for pool in one}:
            least = min(one[pool] for one in several)
            found[pool] = max(least, found.get(pool, 0))
    return found


def _is_within(division: Division, most: Division) -> bool:
    return all(count <= most.get(pool, count) for pool, count in division.items())
