"""Changes of policy objects between two snapshots, field by field, with their writers."""

from collections.abc import Iterator
from enum import Enum

from msgspec import UNSET, Struct

from policygen.core.finding import dotted
from policygen.core.names import MANAGED_BY, TOOL
from policygen.drift.compare import FieldDifference, Read, differences
from policygen.drift.drift import GROUP_KINDS, alike, new_metadata, was_not_requested
from policygen.drift.field_managers import first
from policygen.drift.messages import amounts, author, entries, value
from policygen.kubernetes.cluster import KUEUE, SCHEDULING, VOLCANO
from policygen.kubernetes.kueue import POLICY_KINDS
from policygen.kubernetes.object import Object
from policygen.kubernetes.snapshot import GroupKind, Seen, Snapshot

POLICY = frozenset(
    {
        *(GroupKind("", kind) for kind in ("ConfigMap", "LimitRange", "ResourceQuota")),
        *(GroupKind(KUEUE, kind) for kind in POLICY_KINDS),
        GroupKind(SCHEDULING, "PriorityClass"),
        GroupKind(VOLCANO, "Queue"),
    }
)
"""Kinds that are always policy. Of other kinds that we render, only our objects are policy."""


class What(Enum):
    """How an object changed."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class Change(Struct, frozen=True, eq=False):
    """One changed object, or one changed field of it."""

    what: What
    object: Object
    """The current object, or the old one if it was removed."""
    path: str
    """Empty for the complete object."""
    message: str


def changes(before: Snapshot, after: Snapshot, read: Read) -> Iterator[Change]:
    """All changes, ordered by kind and name. Objects that one snapshot did not request are skipped."""
    was, now = _policy(before), _policy(after)
    both = readable(before.seen) & readable(after.seen)
    for key in sorted({*was, *now}):
        if key[:2] not in both or not (
            _within(before.seen, key[2]) and _within(after.seen, key[2])
        ):
            continue
        old, new = was.get(key), now.get(key)
        if old and new:
            yield from _fields(old, new, read)
        elif new and not was_not_requested(before.seen, new):
            yield Change(What.ADDED, new, "", f"the object is new, {first(new.data)}")
        elif old and not was_not_requested(after.seen, old):
            yield Change(
                What.REMOVED, old, "", "the object is gone; servers do not store who deleted it"
            )


def not_requested(one: Snapshot, other: Snapshot) -> Iterator[Object]:
    """ConfigMaps of one snapshot that the other one did not request."""
    there, others = _policy(one), _policy(other)
    for key in sorted(there.keys() - others.keys()):
        if was_not_requested(other.seen, there[key]):
            yield there[key]


def readable(seen: Seen) -> frozenset[GroupKind]:
    """Kinds of policy that a snapshot read completely."""
    return (POLICY | GROUP_KINDS) & (seen.read | seen.unserved)


def _within(seen: Seen, namespace: str) -> bool:
    return not namespace or not seen.namespaces or namespace in seen.namespaces


def _policy(snapshot: Snapshot) -> dict[tuple[str, str, str, str], Object]:
    return {
        policy.identity: policy
        for policy in snapshot.objects
        if (policy.group, policy.kind) in POLICY
        or ((policy.group, policy.kind) in GROUP_KINDS and policy.labels.get(MANAGED_BY) == TOOL)
    }


def _fields(old: Object, new: Object, read: Read) -> Iterator[Change]:
    was, now = alike(old, new)
    for difference in (*new_metadata(was, now), *differences(was.data, now.data, read)):
        yield Change(What.CHANGED, new, dotted(difference.path), _message(difference, now))


def _message(difference: FieldDifference, now: Object) -> str:
    who = author(now, difference.path, gone=difference.found is UNSET)
    inside = "".join(f" of {each}" for each in entries(difference))
    if difference.reordered:
        return f"the entries{inside} are in another order; {who}"
    if difference.found is UNSET:
        return f"the value{inside} was {value(difference.expected)} and is gone; {who}"
    if difference.expected is UNSET:
        return f"the value{inside} is new: {value(difference.found)}; {who}"
    both = amounts(difference, difference.expected, difference.found)
    return (
        f"the value{inside} was {value(difference.expected)} and is now {value(difference.found)}{both}; "
        f"{who}"
    )
