"""Why Volcano does not start a gang, and what would start it, by trials of the complete simulation."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from policygen.kubernetes.cluster import VOLCANO_BATCH, Cluster
from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import integer, mappings, text
from policygen.simulate.arrival import Arrival
from policygen.simulate.scene import Scene, timeline
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.timeline import JobRun
from policygen.simulate.why.causes import Cause, CauseKind
from policygen.simulate.why.changes import FieldChange, with_value
from policygen.simulate.why.remedy import Cost, Remedy

_UNTIL_S = 1.0
"""Sessions at the start, before a job ends."""
_QUEUES = 5
"""The most other queues that are tried."""
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
        namespace, _, name = arrival.name.partition("/")
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
                found = self._proven(object_, [change], arrival.name)
                if found is not None:
                    yield found
        yield from self._fewer(object_, arrival.name)

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
            if not steps or self._proven(object_, steps[-1], name) is None:
                continue

            def starts(changes: Changes) -> bool:
                return self._proven(object_, changes, name) is not None

            first = bisect_left(steps[:-1], 1, key=starts)
            found = self._proven(object_, steps[first], name)
            if found is not None:
                yield found

    def _proven(self, object_: Object, changes: Changes, name: str) -> Remedy | None:
        data = object_.data
        for it in changes:
            data = with_value(data, it.path, it.after)
        changed = replace(object_, data=data)
        cluster = self._scene.cluster
        objects = [changed if it is object_ else it for it in cluster.objects]
        again = Cluster(objects, cluster.seen, cluster.pods)
        after = self._played(replace(self._scene, cluster=again))
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
        held = {it for it in lost if self._before[it].arrival.nodes}
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
    return FieldChange(_JOB, object_.namespace, object_.name, path, before, after)
