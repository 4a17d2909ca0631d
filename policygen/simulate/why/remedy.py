"""A change that lets a workload start, and what it costs others."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from policygen.core import quantity
from policygen.simulate.why.changes import (
    AffinityRemoved,
    Change,
    ConstraintRemoved,
    FewestPodsChange,
    FieldChange,
    ObjectAdded,
    PodsChange,
    PriorityChange,
    QueueChange,
    RequestChange,
    SelectorChange,
    SpecChange,
    TolerationAdded,
)

_ORDER: tuple[type[Change], ...] = (
    PriorityChange, QueueChange, TolerationAdded, SelectorChange, AffinityRemoved, ConstraintRemoved,
    FewestPodsChange, PodsChange, RequestChange, SpecChange, FieldChange, ObjectAdded,
)  # fmt: skip
"""Changes of the owner first, and of these the ones that keep what the workload requests."""


Parts = Mapping[str, Fraction]
"""The fields that a remedy changes, and by how much each amount changes; 0 for other values."""


class Cost(Struct, frozen=True):
    """What a change costs other workloads, by name."""

    preempted: tuple[str, ...] = ()
    """Those that hold quota now, and must leave."""
    delayed: tuple[str, ...] = ()
    """Those that wait now, would be admitted, and then are not."""
    admitted: tuple[str, ...] = ()
    """Others that are admitted too."""


class Remedy(Struct, frozen=True):
    """Changes with which a trial admitted the workload."""

    changes: tuple[Change, ...]
    cost: Cost
    flavors: tuple[str, ...] = ()
    """Those that its pods get."""
    either: bool = False
    """Whether a tie decided in the trial, so that Kueue may decide otherwise."""
    chosen: Mapping[str, Mapping[str, str]] = {}
    """The flavors by pod set and resource."""
    pods: Mapping[str, int] = {}
    """How many pods Kueue admits, by pod set."""
    replicas: int = 0
    """How many replicas of an object or model it changes, all of which then run; 0: it changes one workload."""
    ends: tuple[str, ...] = ()
    """For a change that works later: the workloads that must end first."""
    placed: bool | None = None
    """Whether nodes have room for its pods then; None: not known."""

    @property
    def parts(self) -> Parts:
        """What it changes. Other values of a field have names of their own."""
        found = {}
        for change in self.changes:
            for it in change.edits if isinstance(change, SpecChange) else (change,):
                before, after = getattr(it, "before", None), getattr(it, "after", None)
                old, new = _amount(before), _amount(after)
                if isinstance(it, ObjectAdded) or old is None or new is None:
                    found[str(it)] = Fraction(0)
                else:
                    where = str(replace(it, after=None))
                    found[where] = new - old
        return found

    @property
    def moves_quota(self) -> bool:
        """Whether it takes quota from an object. Those that a spec renders have no more than their pool."""
        return any(
            isinstance(it, FieldChange)
            and it.path[-1] == "nominalQuota"
            and (_amount(it.after) or 0) < (_amount(it.before) or 0)
            for it in self.changes
        )

    @property
    def burden(self) -> tuple[bool, int, int]:
        """What it costs others, for comparisons: without nodes, how many must leave, and how many wait longer."""
        return self.placed is False, len(self.cost.preempted), len(self.cost.delayed)

    @property
    def rank(self) -> tuple[tuple[bool, int, int], int, int, Fraction]:
        """Sorts remedies, the best first, as docs/why.md says."""
        return (
            self.burden,
            sum(len(it.edits) if isinstance(it, SpecChange) else 1 for it in self.changes),
            max((_ORDER.index(type(it)) for it in self.changes), default=0),
            sum(map(_size, self.changes), start=Fraction(0)),
        )


def _size(change: Change) -> Fraction:
    """By how much an amount changes, as a part of the amount before; 0 for other changes."""
    match change:
        case (
            FewestPodsChange(before=before, after=after)
            | PodsChange(before=before, after=after)
            | RequestChange(before=before, after=after)
        ):
            return Fraction(before - after, before)
        case FieldChange(before=before, after=after):
            return _ratio(before, after)
        case SpecChange(edits=edits):
            return sum((_ratio(it.before, it.after) for it in edits), start=Fraction(0))
    return Fraction(0)


def _ratio(before: Any, after: Any) -> Fraction:
    old, new = _amount(before), _amount(after)
    return abs(new - old) / old if old and new is not None else Fraction(0)


def _amount(value: Any) -> Fraction | None:
    if not isinstance(value, str | int):
        return None
    try:
        return quantity.read(value).value
    except ValueError:
        return None
