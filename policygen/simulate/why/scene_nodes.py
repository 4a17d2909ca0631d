"""The nodes of a scene, with the pods that run on them."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from policygen.simulate.arrival import Arrival
from policygen.simulate.kueue.queue import NEVER
from policygen.simulate.placement.preemption import RunningPod
from policygen.simulate.placement.shape import PodShape
from policygen.simulate.scene import Scene
from policygen.simulate.scene_schedulers import kube_scheduler, shapes
from policygen.simulate.why.node_causes import OccupiedNodes
from policygen.simulate.why.node_room import NodeRoom, flavors_of
from policygen.simulate.why.situation import Situation

_OF_SYSTEM = "system-"
"""The beginning of PriorityClasses that are not for workloads of users."""


class SceneNodes:
    """The nodes for all workloads of a scene; each view is computed once."""

    def __init__(self, scene: Scene, arrivals: Sequence[Arrival]) -> None:
        self._scene = scene
        self._arrivals = arrivals
        self._by_workload = {it.workload.name: it for it in arrivals if it.workload}
        self._now: OccupiedNodes | None = None
        self._with_held: OccupiedNodes | None = None
        self._empty: OccupiedNodes | None = None
        self._held: set[int] = set()
        """The situations whose workloads have their pods in `_with_held`."""

    def now(self) -> OccupiedNodes | None:
        """With the pods that run; None: nodes are not known."""
        if self._now is None and self._scene.nodes:
            self._now = occupied(self._scene, self._arrivals)
        return self._now

    def empty(self) -> OccupiedNodes | None:
        """Without pods, not cordoned, and with all that can be added; None: nodes are not known."""
        if self._empty is None:
            opened = tuple(replace(it, unschedulable=False) for it in self._scene.nodes)
            self._empty = occupied(replace(self._scene, nodes=opened, growing=()), ())
        return self._empty

    def with_held(self, near: Situation) -> OccupiedNodes | None:
        """With the pods of all workloads that hold quota; None: nodes are not known.

        The caller keeps the situation.
        """
        if not self._scene.nodes:
            return None
        if self._with_held is None:
            self._with_held = occupied(self._scene, self._arrivals)
        if self._with_held is not None and id(near) not in self._held:
            self._held.add(id(near))
            for it in (one for them in near.held.values() for one in them):
                owner = self._by_workload.get(it.name)
                if owner is not None and it.admission is not None:
                    own = owner.with_pods(it.admission.counts)
                    self._with_held.start(own, flavors_of(it.admission))
        return self._with_held

    def room(self, near: Situation, arrival: Arrival) -> NodeRoom | None:
        """The nodes as a workload that waits for quota finds them; None: nodes are not known."""
        rooms, empty = self.with_held(near), self.empty()
        if rooms is None or empty is None:
            return None
        return NodeRoom(arrival, rooms, empty, self._by_workload)


def occupied(scene: Scene, arrivals: Iterable[Arrival]) -> OccupiedNodes | None:
    """The nodes of a scene with the pods that run; None: nodes are not known."""
    kube = kube_scheduler(scene, None)
    if kube is None:
        return None
    make = shapes(scene, kube)
    running: dict[int, list[RunningPod]] = {}
    bound: dict[str, list[tuple[PodShape, int]]] = {}
    for it in arrivals:
        admission = it.workload.admission if it.workload else None
        chosen = flavors_of(admission) if admission else {}
        pods = [batch for batch in it.pods for _ in range(batch.count)]
        for batch, node in zip(pods, it.nodes, strict=False):
            shape = make(it, batch, chosen.get(batch.name, {}), {})
            index = kube.nodes.index.get(node)
            if shape is not None and index is not None:
                kube.bind(shape, index)
                bound.setdefault(it.name, []).append((shape, index))
                one = RunningPod(it.name, shape, it.priority, it.at)
                running.setdefault(index, []).append(one)
    classes = sorted(
        (it.fields.value, it.name)
        for it in scene.cluster.priority_classes
        if not it.name.startswith(_OF_SYSTEM) and it.fields.preemption_policy != NEVER
    )
    return OccupiedNodes(kube, make, running, tuple(classes), bound)
