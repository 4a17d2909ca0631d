"""Whether items find room in bins if no item can be divided."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate
from math import ceil

from msgspec import Struct

Amounts = tuple[int, ...]
"""An amount of each resource, in one order for all items and bins."""
_STEPS = 20_000
"""The most steps of one search."""
_MOST_BINS = 400
"""Of more bins, no way to fill them is tried."""


class PackedItem(Struct, frozen=True):
    """An item that needs a bin."""

    amounts: Amounts
    bins: frozenset[str]
    """The kinds of bins that can hold it."""


class Bins(Struct, frozen=True):
    """Equal bins."""

    kind: str
    amounts: Amounts
    count: int


class PackingSteps(Struct):
    """How many ways to fill a bin several searches may still try together, so that their time is bounded."""

    left: int


def packs(
    items: Mapping[PackedItem, int], bins: Sequence[Bins], steps: PackingSteps | None = None
) -> bool | None:
    """Whether the bins hold all items at once; None: unknown, because too many ways had to be tried."""
    steps = steps or PackingSteps(4 * _STEPS)
    wanted = {it: count for it, count in items.items() if count}
    if not wanted or any(_greedy(wanted, bins, tight=tight) for tight in (False, True)):
        return True
    if any(_exceeds(wanted, bins, i) for i in range(len(bins[0].amounts))):
        return False
    if sum(it.count for it in bins) > _MOST_BINS:
        return None
    resources = range(len(bins[0].amounts))
    if len(resources) > 1 and any(
        _Packer(*alone(wanted, bins, i), steps).packs() is False for i in resources
    ):
        return False
    return _Packer(wanted, bins, steps).packs()


def alone(
    items: Mapping[PackedItem, int], bins: Sequence[Bins], resource: int
) -> tuple[dict[PackedItem, int], list[Bins]]:
    """The items and bins with only one resource."""
    found: dict[PackedItem, int] = {}
    for it, count in items.items():
        if it.amounts[resource]:
            item = PackedItem((it.amounts[resource],), it.bins)
            found[item] = found.get(item, 0) + count
    return found, [Bins(it.kind, (it.amounts[resource],), it.count) for it in bins]


def least_bins(items: Mapping[Fraction, int], size: Fraction) -> int:
    """Bins of one size that items need at least, by amount.

    Bound L2 of Martello and Toth, "Lower bounds and reduction procedures for the bin packing
    problem", 1990: items above half a bin need one each, and what these leave holds smaller ones.
    Items below an amount are left out, for each amount.
    """
    amounts = sorted(items)
    counts = [0, *accumulate(items[it] for it in amounts)]
    sums = [Fraction(0), *accumulate(it * items[it] for it in amounts)]
    half = bisect_right(amounts, size / 2)
    found = 0
    for i, least in enumerate(amounts):
        if i >= half:
            found = max(found, counts[-1] - counts[i])
            continue
        near = bisect_right(amounts, size - least)
        alone, halves = counts[-1] - counts[near], counts[near] - counts[half]
        left = halves * size - (sums[near] - sums[half])
        small = sums[half] - sums[i]
        found = max(found, alone + halves + max(0, ceil((small - left) / size)))
    return found


def _exceeds(items: Mapping[PackedItem, int], bins: Sequence[Bins], resource: int) -> bool:
    """Whether items certainly need more bins of one size than there are, by one resource."""
    for kinds in {it.bins for it in items} | {frozenset(it.kind for it in bins)}:
        usable = [it for it in bins if it.kind in kinds]
        sizes = {it.amounts[resource] for it in usable}
        amounts: dict[Fraction, int] = {}
        for it, count in items.items():
            if it.amounts[resource] and it.bins <= kinds:
                amount = Fraction(it.amounts[resource])
                amounts[amount] = amounts.get(amount, 0) + count
        if not amounts:
            continue
        if max(amounts) > max(sizes, default=0):
            return True
        if len(sizes) == 1:
            size = Fraction(sizes.pop())
            if least_bins(amounts, size) > sum(it.count for it in usable):
                return True
    return False


def _greedy(items: Mapping[PackedItem, int], bins: Sequence[Bins], *, tight: bool) -> bool:
    """Whether all items find a bin, the largest first, each in the fullest bin that has room (`tight`) or any."""
    most = _most(bins)
    states = {(it.kind, it.amounts): it.count for it in bins if it.count}
    for item, wanted in sorted(
        items.items(), key=lambda it: _size(it[0].amounts, most), reverse=True
    ):
        left = wanted
        ranked = sorted(states, key=lambda it: _size(it[1], most)[::-1]) if tight else [*states]
        for state in reversed(ranked) if tight else ranked:
            kind, free = state
            each = _holds(free, item.amounts) if kind in item.bins else 0
            if not each:
                continue
            number = states.pop(state)
            for held in (min(each, left), left % each):
                used = min(number, left // held) if held else 0
                if used:
                    key = kind, _less(free, item.amounts, held)
                    states[key] = states.get(key, 0) + used
                    number -= used
                    left -= used * held
            if number:
                states[state] = states.get(state, 0) + number
            if not left:
                break
        if left:
            return False
    return True


class _Packer:
    """Tries all ways to fill the bins, one bin after the other."""

    def __init__(
        self, items: Mapping[PackedItem, int], bins: Sequence[Bins], steps: PackingSteps
    ) -> None:
        most = _most(bins)
        self._items = sorted(items, key=lambda it: _size(it.amounts, most), reverse=True)
        self._bins = bins
        self._start = tuple(items[it] for it in self._items), tuple(it.count for it in bins)
        self._failed: set[tuple[tuple[int, ...], tuple[int, ...]]] = set()
        self._most = min(steps.left, _STEPS)
        self._tried = 0
        self._steps = steps

    def packs(self) -> bool | None:
        """The answer; None: not found within the steps."""
        try:
            return self._fits(*self._start)
        except _TooManyStepsError:
            return None
        finally:
            self._steps.left -= self._tried

    def _fits(self, left: tuple[int, ...], bins: tuple[int, ...]) -> bool:
        first = next((i for i, count in enumerate(left) if count), None)
        if first is None:
            return True
        if (left, bins) in self._failed or self._is_above(left, bins):
            return False
        for i, it in enumerate(self._bins):
            if bins[i] and it.kind in self._items[first].bins:
                fewer = (*bins[:i], bins[i] - 1, *bins[i + 1 :])
                for filled in self._fillings(left, it, first):
                    if self._fits(filled, fewer):
                        return True
        self._failed.add((left, bins))
        return False

    def _is_above(self, left: Sequence[int], bins: Sequence[int]) -> bool:
        return any(
            sum(count * it.amounts[i] for count, it in zip(left, self._items, strict=True))
            > sum(count * it.amounts[i] for count, it in zip(bins, self._bins, strict=True))
            for i in range(len(self._bins[0].amounts))
        )

    def _fillings(self, left: tuple[int, ...], bins: Bins, first: int) -> Iterator[tuple[int, ...]]:
        """What is left after a bin with the first item is filled, so that no other item fits any more."""
        pending = [(first, left, bins.amounts)]
        while pending:
            if self._tried >= self._most:
                raise _TooManyStepsError
            self._tried += 1
            i, rest, free = pending.pop()
            if i == len(left):
                if not any(
                    count and bins.kind in it.bins and _holds(free, it.amounts)
                    for count, it in zip(rest, self._items, strict=True)
                ):
                    yield rest
                continue
            item = self._items[i]
            most = min(rest[i], _holds(free, item.amounts)) if bins.kind in item.bins else 0
            for count in range(1 if i == first else 0, most + 1):  # the last is tried first
                taken = (*rest[:i], rest[i] - count, *rest[i + 1 :])
                pending.append((i + 1, taken, _less(free, item.amounts, count)))


class _TooManyStepsError(Exception):
    """The search takes too long."""


def _most(bins: Sequence[Bins]) -> Amounts:
    return tuple(max(1, *column) for column in zip(*(it.amounts for it in bins), strict=True))


def _size(amounts: Amounts, most: Amounts) -> tuple[float, float]:
    """The largest part of a bin, and the sum of all parts."""
    parts = [amount / whole for amount, whole in zip(amounts, most, strict=True)]
    return max(parts), sum(parts)


def _holds(free: Amounts, each: Amounts) -> int:
    """How many equal items a bin holds. Raises ValueError for an item without amounts."""
    return min(
        have // amount if have >= amount else 0
        for have, amount in zip(free, each, strict=True)
        if amount
    )


def _less(free: Amounts, each: Amounts, count: int) -> Amounts:
    return tuple(have - count * amount for have, amount in zip(free, each, strict=True))
