"""What must be applied or deleted before something else, because a server refuses one apply of everything."""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.names import SET
from policygen.drift.changes import What
from policygen.drift.drift import alike
from policygen.drift.immutable import refusal
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.object import Object
from policygen.review.deletions import Deletion, deletions
from policygen.review.objects import ObjectChange
from policygen.review.queue_steps import QueueStep, is_refused, queue_steps, queues


class Recreated(Struct, frozen=True, eq=False):
    """An object that must be deleted before the apply, since the server refuses a change of it."""

    object: Object
    why: str
    """A sentence without a final stop."""


class ApplyOrder(Struct, frozen=True):
    """The applies of a change, in order."""

    recreated: tuple[Recreated, ...] = ()
    steps: tuple[QueueStep, ...] = ()
    """At least two, if the order of Volcano's Queues matters; otherwise none."""
    unknown: str = ""
    """Why there is no order of applies."""
    last: tuple[Deletion, ...] = ()
    """What is deleted after the applies, when no workload names it any more."""

    @property
    def matters(self) -> bool:
        """Whether one apply of everything is refused, or harms workloads."""
        return bool(self.recreated or self.steps or self.unknown or self.last)


def apply_order(
    old: Cluster, new: Cluster, changes: Sequence[ObjectChange], after: Cluster
) -> ApplyOrder:
    """The order in which a change from the old objects to the new ones must be applied.

    `after` are all objects after the change, with workloads.
    """
    order = steps_of(old, new, changes)
    earlier = {name for step in order.steps for name in step.delete}
    return replace(
        order,
        recreated=tuple(recreated(old, changes)),
        last=deletions(changes, after, earlier),
    )


def recreated(old: Cluster, changes: Iterable[ObjectChange]) -> list[Recreated]:
    """The changed objects that the server refuses to update."""
    was = {it.identity: it for it in old.objects}
    found = []
    for change in changes:
        before = was.get(change.object.identity)
        if change.what is not What.CHANGED or before is None:
            continue
        mine, _ = alike(before, change.object)
        wanted = (replace(it, expected=it.found) for it in change.fields)
        reason = next(filter(None, (refusal(mine.data, it) for it in wanted)), None)
        if reason is not None:
            found.append(Recreated(change.object, reason.why))
    return found


def steps_of(
    old: Cluster, new: Cluster, changes: Iterable[ObjectChange], *, always: bool = False
) -> ApplyOrder:
    """The applies of Volcano's Queues; with `always`, also those that one apply may make.

    Queues of other specs are not deleted, nor those on a cluster that policygen did not render.
    """
    before, after = queues(old), queues(new)
    if not always and not is_refused(before, after):
        return ApplyOrder()
    names = {it.labels.get(SET) for it in new.queues}
    ours = {
        it.object.name
        for it in changes
        if (it.what, it.object.kind) == (What.REMOVED, "Queue")
        and not (it.foreign and it.object.labels.get(SET) in names)
    }
    kept = [
        it.name
        for it in old.queues
        if (it.name not in ours if it.labels.get(SET) else old.seen is not None)
    ]
    try:
        return ApplyOrder(steps=queue_steps(before, after, kept))
    except ValueError as error:
        return ApplyOrder(unknown=str(error))
