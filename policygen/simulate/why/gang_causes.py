"""Why Volcano does not start a gang, and what would start it, by trials of the complete simulation."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from policygen.core import quantity
from policygen.core.amounts import total
from policygen.kubernetes.cluster import VOLCANO_BATCH
from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import integer, mapping, mappings, text
from policygen.simulate.arrival import Arrival
from policygen.simulate.kueue.amounts import counted, shown
from policygen.simulate.scene import Scene, timeline
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.timeline import JobRun
from policygen.simulate.why.causes import Cause, CauseKind
from policygen.simulate.why.changes import FieldChange
from policygen.simulate.why.remedy import Cost, Remedy
from policygen.simulate.why.scene_changes import changed_scene

_UNTIL_S = 1.0
"""Sessions at the start, before a job ends."""
_QUEUES = 5
"""The most other queues that are tried."""
_STEPS = 16
"""The number of steps in which a capability grows by what the job requests."""
_JOB = "Job"
Changes = Sequence[FieldChange]


class Gangs:
    """The gangs of a scene."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._before = self._played(scene)

    def cause(self, arrival: Arrival) -> Cause | None:
        """Why Volcano does not start it now; None: it does."""
        run = self._before.get(arrival.name)
        if run is None or run.started is not None:
            return None
        queue = arrival.gang.queue if arrival.gang else ""
        return Cause(CauseKind.VOLCANO, f"Queue {queue}", queue, run.message or run.reason)

    def remedies(self, arrival: Arrival) -> Iterator[Remedy]:
        """Changes of a Job of Volcano with which it starts now."""
        namespace, _, name = arrival.object_name.partition("/")
        object_ = next(
            (
                it
                for it in self._scene.cluster.of(VOLCANO_BATCH, _JOB)
                if (it.namespace, it.name) == (namespace, name)
            ),
            None,
        )
        if object_ is None:
            return
        for it in list(self._scene.cluster.queues)[:_QUEUES]:
            if it.name != text(object_.data, "spec", "queue"):
                change = _change(object_, ("spec", "queue"), it.name)
                found = self._proven([change], arrival.name)
                if found is not None:
                    yield found
        yield from self._fewer(object_, arrival.name)
        yield from self._higher(object_, arrival)

    def _higher(self, object_: Object, arrival: Arrival) -> Iterator[Remedy]:
        """A higher capability of its queue, as little higher as possible."""
        name = text(object_.data, "spec", "queue") or "default"
        queue = next((it.object for it in self._scene.cluster.queues if it.name == name), None)
        written = mapping(queue.data, "spec", "capability") if queue is not None else {}
        asked = total(
            {key: amount * it.count for key, amount in it.spec.requests.items()}
            for it in arrival.pods
        )
        if queue is None:
            return
        steps = [
            [
                _change(queue, ("spec", "capability", key), _more(key, value, asked[key], i))
                for key, value in written.items()
                if asked.get(key)
            ]
            for i in range(1, _STEPS + 1)
        ]
        if steps[-1]:
            found = self._first(steps, arrival.name)
            if found is not None:
                yield found

    def _first(self, steps: Sequence[Changes], name: str) -> Remedy | None:
        """The first of these changes with which it starts, if it does with the last one."""
        last = self._proven(steps[-1], name)
        if last is None:
            return None

        def starts(changes: Changes) -> bool:
            return self._proven(changes, name) is not None

        first = bisect_left(steps[:-1], 1, key=starts)
        return self._proven(steps[first], name)

    def _fewer(self, object_: Object, name: str) -> Iterator[Remedy]:
        """Fewer pods of one task, as few less as possible."""
        least = integer(object_.data["spec"].get("minAvailable"))
        for i, task in enumerate(mappings(object_.data, "spec", "tasks")):
            count = integer(task.get("replicas")) or 0
            steps = []
            for left in range(count - 1, 0, -1):
                changes = [_change(object_, ("spec", "tasks", i, "replicas"), left)]
                if least is not None:
                    smaller = max(least - (count - left), 1)
                    changes.append(_change(object_, ("spec", "minAvailable"), smaller))
                steps.append(changes)
            found = self._first(steps, name) if steps else None
            if found is not None:
                yield found

    def _proven(self, changes: Changes, name: str) -> Remedy | None:
        after = self._played(changed_scene(self._scene, changes))
        if name not in after or after[name].started is None:
            return None
        lost = [
            it
            for it, run in self._before.items()
            if run.running and it in after and not after[it].running
        ]
        more = [
            it
            for it, run in self._before.items()
            if it != name and not run.running and it in after and after[it].running
        ]
        held = {it for it in lost if any(self._before[it].arrival.nodes)}
        cost = Cost(tuple(sorted(held)), tuple(sorted(set(lost) - held)), tuple(sorted(more)))
        return Remedy(tuple(changes), cost, either=after[name].either)

    @staticmethod
    def _played(scene: Scene) -> dict[str, JobRun]:
        """What the schedulers do with all jobs at the start, by name."""
        made = timeline(scene, arrivals(scene), until=_UNTIL_S)
        for _ in made.run():
            pass
        return {it.arrival.name: it for it in made.jobs}


def _change(object_: Object, path: tuple[str | int, ...], after: Any) -> FieldChange:
    before: Any = object_.data
    for key in path:
        before = before[int(key)] if isinstance(before, list) else before.get(key)
    return FieldChange(object_.kind, object_.namespace, object_.name, path, before, after)


def _more(resource: str, written: Any, asked: Fraction, step: int) -> str:
    """A capability that is higher by some steps of what is asked."""
    more = -(-counted(resource, asked) * step // _STEPS)
    return shown(resource, counted(resource, quantity.read(written).value) + more)
