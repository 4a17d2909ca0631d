"""The paths of Volcano's queues in their annotations, of which none may be above another.

Source: queues/validate/validate_queue.go, validateHierarchicalAttributes, which compares a queue with
those that exist; queues/mutate/mutate_queue.go, createQueuePatch.
"""

from collections.abc import Iterator

from msgspec import Struct

from policygen.core.finding import FaultAt
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.table import Entry
from policygen.kubernetes.volcano import QueueView
from policygen.lint.rule import Facts

PATH = "volcano.sh/hierarchy"
WEIGHTS = "volcano.sh/hierarchy-weights"


class PathConflict(Struct, frozen=True, eq=False):
    """A queue whose path is above the path of another queue."""

    queue: Entry[QueueView]
    below: Entry[QueueView]
    """The other queue: one that comes earlier, if there is one."""
    on_create: bool
    """Whether the other queue comes earlier, so that Volcano refuses to create the queue."""


def conflicts(cluster: Cluster) -> tuple[PathConflict, ...]:
    """All queues whose path is above that of another, in the order of the queues; for `cluster.derive`."""
    found = []
    later: dict[str, Entry[QueueView]] = {}
    for queue in cluster.queues:
        later.update(dict.fromkeys(_above(queue), queue))
    earlier: dict[str, Entry[QueueView]] = {}
    for queue in cluster.queues:
        path = _rooted(queue)
        if path and path in later:
            found.append(PathConflict(queue, earlier.get(path, later[path]), path in earlier))
        earlier.update(dict.fromkeys(_above(queue), queue))
    return tuple(found)


def refused_later(facts: Facts) -> Iterator[FaultAt]:
    """Queues that are created before the queue below their path."""
    for conflict in facts.cluster.derive(conflicts):
        if not conflict.on_create:
            queue, below = conflict.queue, conflict.below
            message = (
                f"{queue} has {PATH} {queue.annotations[PATH]}, but {below} has a path below this path, so "
                f"Volcano refuses every update of {queue}; change the path of {queue} or of {below}"
            )
            yield queue.at.to("metadata", "annotations", PATH), message


def _above(queue: Entry[QueueView]) -> list[str]:
    parts = _rooted(queue).split("/")
    return ["/".join(parts[:i]) for i in range(1, len(parts))]


def _rooted(queue: Entry[QueueView]) -> str:
    """The path as the mutating webhook writes it; empty without weights."""
    path = queue.annotations.get(PATH, "")
    if not path or not queue.annotations.get(WEIGHTS) or path.startswith("root"):
        return path
    return f"root/{path}"
