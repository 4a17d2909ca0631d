"""Where a job names its queue of Volcano, so that a change can name another one."""

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.finding import Path, dotted
from policygen.kubernetes.cluster import VOLCANO_BATCH, Cluster
from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import text
from policygen.kubernetes.workloads import Workload
from policygen.simulate.arrival import Arrival
from policygen.simulate.scene import Scene
from policygen.simulate.volcano.build import DEFAULT_QUEUE
from policygen.simulate.volcano.gangs import QUEUE
from policygen.simulate.why.changes import FieldChange
from policygen.simulate.why.scene_changes import arrival_of, owner_of

_GROUP = "PodGroup"
_OF_SPEC: Path = ("spec", "queue")


class QueueField(Struct, frozen=True, eq=False):
    """The field of an object that names the queue of a job, or can name it."""

    object: Object
    path: Path
    before: str
    """Empty: the field is not set, so the queue is `default`."""

    @property
    def title(self) -> str:
        """The field in a sentence: `spec.queue of Job nlp/train`."""
        it = self.object
        field = f"annotation {QUEUE}" if self.path[-1] == QUEUE else dotted(self.path)
        return f"{field} of {it.kind} {'/'.join(filter(None, [it.namespace, it.name]))}"

    def to(self, name: str) -> FieldChange:
        """The change that names another queue."""
        it = self.object
        return FieldChange(*it.identity[1:], self.path, self.before or None, name, group=it.group)


def queue_field(cluster: Cluster, arrival: Arrival) -> QueueField | None:
    """The field for a job; None: its object is not listed."""
    namespace, _, name = arrival.object_name.partition("/")
    queue = arrival.gang.queue if arrival.gang is not None else ""
    if arrival.kind == _GROUP:
        group = cluster.pod_groups.get(name, namespace)
        return None if group is None else QueueField(group.object, _OF_SPEC, queue)
    owner = owner_of(cluster, arrival)
    if owner is None:
        return None
    if owner.object.group == VOLCANO_BATCH:
        return QueueField(owner.object, _OF_SPEC, queue)
    path = _annotation(owner)
    return QueueField(owner.object, path, queue if path else "")


def read_again(scene: Scene, arrival: Arrival) -> Arrival:
    """A job whose object is another one in `scene`. Of a PodGroup, only its queue is."""
    named = queue_field(scene.cluster, arrival)
    if named is None or arrival.gang is None:
        return arrival
    if arrival.kind == _GROUP:
        queue = text(named.object.data, "spec", "queue")
        return replace(arrival, gang=replace(arrival.gang, queue=queue or DEFAULT_QUEUE))
    found = arrival_of(scene, named.object.identity)
    if found is None:
        return arrival
    return replace(found, name=arrival.name, at=arrival.at, duration=arrival.duration)


def _annotation(owner: Workload) -> Path:
    """The path of the annotation. Those of the first pod template come before those of the object."""
    template = owner.templates[0]
    own = QUEUE in owner.annotations and QUEUE not in template.annotations
    path = () if own else template.at.path[len(owner.at.path) :]
    return (*path, "metadata", "annotations", QUEUE)
