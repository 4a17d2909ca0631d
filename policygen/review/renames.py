"""Pairs removed and added objects that are the same under another name, where that is sure."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from policygen.adopt.compare import translated
from policygen.core.names import SET
from policygen.drift.changes import What
from policygen.drift.compare import Read, differences
from policygen.drift.drift import IDENTITY, alike, new_metadata
from policygen.kubernetes.cluster import KUEUE, SCHEDULING, VOLCANO
from policygen.kubernetes.object import Object
from policygen.review.objects import ObjectChange

Names = Mapping[tuple[str, str, str], str]
"""By kind, namespace and old name of an object, its new name."""

_KINDS = (
    (KUEUE, "ResourceFlavor"),
    (KUEUE, "Cohort"),
    (KUEUE, "ClusterQueue"),
    (KUEUE, "LocalQueue"),
    (VOLCANO, "Queue"),
    (KUEUE, "WorkloadPriorityClass"),
    (SCHEDULING, "PriorityClass"),
)
"""Kinds whose fields show what an object is for, those that others name first."""
_IGNORED = {"metadata", "status", "apiVersion", "kind"}


def with_names(changes: Iterable[ObjectChange], known: Names, read: Read) -> Sequence[ObjectChange]:
    """The changes, in which a renamed object has its other name, and the added one the changed fields.

    `known` are names that only the reader of the objects knows, such as `adopt`. Other objects are renamed
    if no second one has the same fields.
    """
    changes = list(changes)
    removed, added = (
        {
            _key(it.object): it.object
            for it in changes
            if it.what is what and (it.object.group, it.object.kind) in _KINDS
        }
        for what in (What.REMOVED, What.ADDED)
    )
    names = {
        key: new
        for key, new in known.items()
        if key in removed and (*key[:2], new) in added and new != key[2]
    }
    for group, kind in _KINDS:
        # A Queue below a renamed one is found after it.
        while more := _same(group, kind, (removed, added), names):
            names |= more
    was: defaultdict[tuple[str, str, str], list[Object]] = defaultdict(list)
    for key, new in names.items():
        was[*key[:2], new].append(removed[key])
    return [_renamed(it, names, was, read) for it in changes]


def _key(found: Object) -> tuple[str, str, str]:
    return found.kind, found.namespace, found.name


def _same(
    group: str,
    kind: str,
    objects: tuple[Mapping[tuple[str, str, str], Object], ...],
    names: Names,
) -> dict[tuple[str, str, str], str]:
    """The new names of objects that have the fields of exactly one added object."""
    used = {(*key[:2], new) for key, new in names.items()}
    by_fields: list[defaultdict[str, list[Object]]] = []
    for several, paired in zip(objects, (names.keys(), used), strict=True):
        found: defaultdict[str, list[Object]] = defaultdict(list)
        for key, it in several.items():
            if (it.group, it.kind) == (group, kind) and key not in paired:
                found[_fields(it, names if several is objects[0] else {})].append(it)
        by_fields.append(found)
    pairs = ((it, by_fields[1].get(fields, [])) for fields, it in by_fields[0].items() if fields)
    return {_key(old[0]): new[0].name for old, new in pairs if (len(old), len(new)) == (1, 1)}


def _fields(found: Object, names: Names) -> str:
    """What an object is apart from its name; empty if it has no fields."""
    data = {
        name: value for name, value in translated(found, names).data.items() if name not in _IGNORED
    }
    if not any(data.values()):
        return ""
    labels = {it: value for it, value in found.labels.items() if it != SET}
    return json.dumps([found.namespace, labels, data], sort_keys=True, default=str)


def _renamed(
    change: ObjectChange,
    names: Names,
    was: Mapping[tuple[str, str, str], Sequence[Object]],
    read: Read,
) -> ObjectChange:
    key = _key(change.object)
    if change.what is What.REMOVED and key in names:
        return replace(change, other_names=(names[key],))
    if change.what is not What.ADDED or key not in was:
        return change
    fields = []
    if len(was[key]) == 1:
        mine, theirs = alike(translated(was[key][0], names), change.object)
        found = (*new_metadata(mine, theirs), *differences(mine.data, theirs.data, read))
        fields = [it for it in found if it.path not in IDENTITY]
    old = tuple(it.name for it in was[key])
    return replace(change, other_names=old, fields=tuple(fields))
