"""Kinds, objects and rules that cannot be compared, because one snapshot lacks data."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from policygen.drift.changes import POLICY, not_requested, readable
from policygen.kubernetes.snapshot import Gap, GroupKind, Snapshot

_WHICH = ("first", "second")


class Incomparable(Struct, frozen=True):
    """A kind, an object or a rule that cannot be compared.

    Not a Finding: `diff` reports differences, no rule, and it groups these by reason.
    """

    name: str
    reason: str
    """A reason that several can share: `not read for the second snapshot`."""
    detail: str = ""
    """A reason for this one only."""

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.name, self.reason, self.detail)))


def unread(
    snapshots: Sequence[Snapshot], missed: Sequence[Sequence[Gap]]
) -> Iterator[Incomparable]:
    """Kinds that could not be read for one snapshot or both; `missed` are those that rules need."""
    names = [_unread(snapshot, gaps) for snapshot, gaps in zip(snapshots, missed, strict=True)]
    known = [readable(it.seen) for it in snapshots]
    for mine, lacking in zip(names, (known[1] - known[0], known[0] - known[1]), strict=True):
        mine.update({str(kind): "" for kind in lacking if str(kind) not in mine})
    first, second = names
    for name in sorted({*first, *second}):
        both = name in first and name in second
        which = "both snapshots" if both else f"the {_WHICH[name in second]} snapshot"
        yield Incomparable(name, f"not read for {which}", first.get(name) or second.get(name, ""))


def _unread(snapshot: Snapshot, missed: Sequence[Gap]) -> dict[str, str]:
    """The kinds that policy or rules lack, and why."""
    policy = [it for it in snapshot.seen.gaps if GroupKind(it.group, it.kind) in POLICY]
    return {it.what: it.reason for it in reversed([*policy, *missed])}


def config_maps(snapshots: Sequence[Snapshot]) -> Iterator[Incomparable]:
    """ConfigMaps that one of the snapshots did not read, since they are read by name."""
    for which, one, other in zip(_WHICH, snapshots, reversed(snapshots), strict=True):
        for config_map in not_requested(other, one):
            reason = (
                f"not requested for the {which} snapshot; take both snapshots with the same spec"
            )
            yield Incomparable(str(config_map), reason)


def rules(unjudged: Sequence[Mapping[str, str]]) -> Iterator[Incomparable]:
    """Rules that ran for only one of the snapshots.

    `unjudged` has for each snapshot the rules that did not run, and why.
    """
    for which, mine, other in zip(_WHICH, unjudged, reversed(unjudged), strict=True):
        for name, reason in mine.items():
            if name not in other:
                yield Incomparable(name, f"not evaluated for the {which} snapshot", reason)
