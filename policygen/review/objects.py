"""Which rendered objects change, and in which fields."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from policygen.drift.changes import What
from policygen.drift.compare import FieldDifference, Read, differences
from policygen.drift.drift import RenderedObject, alike
from policygen.kubernetes.object import Object


class ObjectChange(Struct, frozen=True, eq=False):
    """A rendered object that is added, removed or changed."""

    what: What
    object: Object
    """The new object, or the old one if it is removed."""
    fields: tuple[FieldDifference, ...] = ()
    """`expected` is the value before, and `found` the value after."""


def object_changes(
    old: Iterable[RenderedObject], new: Iterable[RenderedObject], read: Read
) -> Iterator[ObjectChange]:
    """The changes, in the order of the new objects; removed objects come last."""
    was = {it.object.identity: it.object for it in old}
    now = {it.object.identity: it.object for it in new}
    for key, after in now.items():
        before = was.get(key)
        if before is None:
            yield ObjectChange(What.ADDED, after)
            continue
        mine, theirs = alike(before, after)
        if fields := tuple(differences(mine.data, theirs.data, read)):
            yield ObjectChange(What.CHANGED, after, fields)
    for key, before in was.items():
        if key not in now:
            yield ObjectChange(What.REMOVED, before)
