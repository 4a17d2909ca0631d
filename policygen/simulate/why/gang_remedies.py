"""What would start a gang: changes that are proven by trials with all schedulers."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace as copied
from fractions import Fraction
from typing import Any

from msgspec.structs import replace

from policygen.core import quantity
from policygen.core.amounts import total
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.cluster import VOLCANO_BATCH
from policygen.kubernetes.object import Object
from policygen.kubernetes.scheduler_reasons import INSUFFICIENT
from policygen.kubernetes.untyped import integer, mapping, mappings
from policygen.simulate.arrival import Arrival, PodBatch
from policygen.simulate.kueue.amounts import counted, shown
from policygen.simulate.over_time.job_run import JobRun
from policygen.simulate.scene import Scene
from policygen.simulate.scene_schedulers import kube_scheduler, shapes, timeline
from policygen.simulate.timeline import Timeline
from policygen.simulate.volcano.build import DEFAULT_QUEUE
from policygen.simulate.volcano.gangs import with_pods
from policygen.simulate.why.causes import Cause, CauseKind, Shortage
from policygen.simulate.why.changes import (
    AffinityRemoved,
    Change,
    ConstraintRemoved,
    FieldChange,
    PodsChange,
    PolicyChange,
    RequestChange,
    SelectorChange,
    TolerationAdded,
    in_objects,
)
from policygen.simulate.why.ends import fewest
from policygen.simulate.why.gang_causes import GangCauses
from policygen.simulate.why.node_causes import OccupiedNodes, changed_batch
from policygen.simulate.why.pool_access import PoolAccess
from policygen.simulate.why.queue_field import queue_field, read_again
from policygen.simulate.why.remedies import simple
from policygen.simulate.why.remedy import Cost, Remedy
from policygen.simulate.why.scene_changes import changed_scene
from policygen.simulate.why.siblings import siblings
from policygen.simulate.why.spec_changes import SpecPolicy
from policygen.simulate.why.team_queues import team_queues

_UNTIL_S = 1.0
"""Sessions at the start, before a job ends."""
_SEEDS = (2, 3)
"""Other random choices with which a remedy is tried again."""
_STEPS = 16
"""The number of steps in which a capability grows by what the job requests."""
_FEW = 4
"""So many priority classes and cordoned nodes are tried."""
_TRIALS, _FEWEST_TRIALS = 300, 12
"""The most trials for a job; fewer if there are many jobs."""
_JOBS = 4_000
"""The most jobs about which all trials together decide."""
_JOB = "Job"
_ENDS = 8
"""The most jobs whose end is tried."""
Changes = Sequence[Change]


class Gangs:
    """The gangs among the jobs of a scene."""

    def __init__(
        self,
        scene: Scene,
        jobs: Sequence[Arrival],
        spec: SpecPolicy | None = None,
        access: PoolAccess | None = None,
    ) -> None:
        self._scene = scene
        self._jobs = jobs
        self._spec = spec
        self._access = access or PoolAccess(scene)
        self._shapes = shapes(scene, kube_scheduler(scene))
        """No change that is tried changes what a pod spec requires."""
        self._timeline = self._played(scene, jobs)
        self._before = _by_name(self._timeline)
        self._causes = GangCauses(scene, self._timeline)
        self._found: dict[str, Cause] = {}
        self._started: dict[AbstractSet[str], AbstractSet[str]] = {}
        """The jobs that start if others have ended, by these."""
        self._certain = True
        """Whether changes are tried only if the plugin overcommit can enqueue the job at once."""
        self._skipped = False
        """Whether a change was not tried for this reason."""
        self.tried = 0
        """How many changes were tried for the last job."""
        kube = self._timeline.kube
        self._nodes = None if kube is None else OccupiedNodes(kube, self._shapes, {})
        self._most = max(_FEWEST_TRIALS, min(_TRIALS, _JOBS // max(len(jobs), 1)))

    def cause(self, arrival: Arrival) -> Cause | None:
        """Why Volcano does not start it now; None: it does."""
        run = self._before.get(arrival.name)
        if run is None or _starts(self._timeline, run):
            return None
        if arrival.name not in self._found:
            self._found[arrival.name] = self._causes.of(run)
        return self._found[arrival.name]

    def cost(self, arrival: Arrival) -> Cost:
        """What a new job that starts costs others."""
        without = _by_name(
            self._played(self._scene, [it for it in self._jobs if it is not arrival])
        )
        return _cost(arrival.name, without, self._before)

    def ends(self, arrival: Arrival, changes: Changes = ()) -> tuple[str, ...]:
        """The fewest of the largest jobs whose end starts it after changes; empty: that does not help."""
        run = self._before[arrival.name]
        names = self._causes.holders(run)[:_ENDS]
        scene, changed = self._after(changes, arrival)
        jobs = [changed if it.name == arrival.name else it for it in self._jobs]

        def starts(gone: Sequence[str]) -> bool:
            ended = [self._before[it].arrival for it in gone]
            if not changes:
                return not self._is_above(arrival, ended) and arrival.name in self._after_ends(gone)
            left = [it for it in jobs if it.name not in gone]
            return self._starts(scene, left, arrival.name) is not None

        return fewest(names, starts)

    def _after_ends(self, gone: Sequence[str]) -> AbstractSet[str]:
        """The jobs that start if these jobs have ended. Many jobs wait for the same ones."""
        key = frozenset(gone)
        if key not in self._started:
            made = self._played(self._scene, [it for it in self._jobs if it.name not in key])
            self._started[key] = {it.arrival.name for it in made.jobs if _starts(made, it)}
        return self._started[key]

    def later(self, arrival: Arrival) -> list[Remedy]:
        """Changes with which it starts if it is alone."""
        alone = Gangs(self._scene, [arrival], self._spec, self._access)
        cause = alone.cause(arrival)
        return [] if cause is None else alone.remedies(arrival, cause)

    def remedies(self, arrival: Arrival, cause: Cause) -> list[Remedy]:
        """Changes with which it starts now, the best first."""
        self.tried = 0
        if self._nodes is None:
            return []  # without nodes, no gang starts in a trial
        object_ = _object(self._scene, arrival)
        found: list[Remedy] = []
        for certain in (True, False):  # of what overcommit refuses at first, few changes help
            if found or not (certain or self._skipped):
                break
            self._certain, self._skipped = certain, False
            families = (it for it in self._families(arrival, object_, cause) if it)
            tried = (self._first(it, arrival) for it in families)
            found = [it for it in tried if it is not None]
        return sorted(simple(found), key=lambda it: it.rank)

    def _families(
        self, arrival: Arrival, object_: Object | None, cause: Cause
    ) -> Iterator[Sequence[Changes]]:
        """Alternatives of one kind, the smallest first."""
        named = queue_field(self._scene.cluster, arrival)
        if named is not None:
            own = team_queues(self._scene, self._timeline.jobs, arrival)
            for name in sorted(own, key=lambda it: it not in cause.names):  # those that are meant
                if name != (named.before or DEFAULT_QUEUE):
                    yield [[named.to(name)]]
        if object_ is not None:
            if cause.kind is CauseKind.GANG_INCOMPLETE:
                yield from _complete(object_, arrival)
                return
            yield from _fewer(object_)
            yield [[it] for it in self._priorities(object_, arrival)]
        if cause.kind is CauseKind.NO_NODES or cause.never is not None or cause.obstacles:
            yield from self._smaller(arrival, object_, cause)
        yield from ([[it]] for it in self._uncordoned())
        yield from self._higher(arrival, cause)
        if cause.kind is CauseKind.VOLCANO_QUEUE_CLOSED:
            queue = self._queue(cause.queue)
            if queue is not None:
                yield [[_change(queue, ("status", "state"), "Open")]]

    def _queue(self, name: str) -> Object | None:
        return next((it.object for it in self._scene.cluster.queues if it.name == name), None)

    def _smaller(
        self, arrival: Arrival, object_: Object | None, cause: Cause
    ) -> Iterator[Sequence[Changes]]:
        """Pods that other nodes take, or that request less of what is short."""
        nodes = self._nodes
        if nodes is None:
            return
        allowed = self._access.nodes(arrival).union(nodes.usable(arrival, {}))
        for family in nodes.families(arrival, {}, allowed):
            pods = any(isinstance(it, PodsChange) for it in family[0])
            if (not pods or object_ is None) and any(_helps(it, cause) for it in family[0]):
                yield family

    def _priorities(self, object_: Object, arrival: Arrival) -> Iterator[Change]:
        own = arrival.gang.priority if arrival.gang is not None else 0
        classes = sorted(
            (it.fields.value, it.name)
            for it in self._scene.cluster.priority_classes
            if it.fields.value > own and not it.name.startswith("system-")
        )
        for _, name in classes[:_FEW]:
            yield _change(object_, ("spec", "priorityClassName"), name)

    def _uncordoned(self) -> Iterator[Change]:
        cordoned = [it for it in self._scene.nodes if it.unschedulable]
        for it in cordoned[:_FEW]:
            yield FieldChange("Node", "", it.name, ("spec", "unschedulable"), True, None)  # noqa: FBT003 - values

    def _higher(self, arrival: Arrival, cause: Cause) -> Iterator[Sequence[Changes]]:
        """A higher limit of the queue, in the spec if it renders the queue."""
        name = arrival.gang.queue if arrival.gang is not None else ""
        asked = total(
            {key: amount * it.count for key, amount in it.spec.requests.items()}
            for it in arrival.pods
        )
        if self._spec is not None and self._spec.renders("Queue", "", name):
            wanted = {
                key: Shortage(amount, amount, 2 * amount + self._waiting(name, key))
                for key, it in asked.items()
                if is_one(key) and (amount := counted(key, it))
            }
            yield from self._spec.of_volcano(self._scene.cluster, name, wanted)
            return
        short = cause.queue if cause.obstacles else name
        queue = self._queue(short)
        written = mapping(queue.data, "spec", "capability") if queue is not None else {}
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
            yield steps

    def _waiting(self, queue: str, resource: str) -> int:
        """What other gangs of a queue request that wait."""
        return sum(
            counted(resource, _of(it, resource)) * it.count
            for run in self._before.values()
            if not run.running and run.arrival.gang is not None and run.arrival.gang.queue == queue
            for it in run.arrival.pods
        )

    def _first(self, family: Sequence[Changes], arrival: Arrival) -> Remedy | None:
        """The first of these changes with which it starts, if it does with the last one."""
        found = self._proven(family[len(family) - 1], arrival)
        if found is None:
            return None
        low, high = 0, len(family) - 1
        while low < high:
            middle = (low + high) // 2
            one = self._proven(family[middle], arrival)
            if one is None:
                low = middle + 1
            else:
                found, high = one, middle
        return found

    def _proven(self, changes: Changes, arrival: Arrival) -> Remedy | None:
        """The remedy, if the job starts after these changes."""
        if not changes or self.tried >= self._most or not self._access.bounds.allow(changes):
            return None
        others = dict(self._of_siblings(changes, arrival))
        every = [*changes, *(one for own in others.values() for one in own)]
        scene, changed = self._after(changes, arrival, every)
        above = self._is_above(changed)
        if above is self._certain:
            self._skipped |= above
            return None  # if it is not above, it was tried before
        self.tried += 1
        again = {it: self._after(own, it, every)[1] for it, own in others.items()}
        jobs = [changed if it.name == arrival.name else again.get(it, it) for it in self._jobs]
        after = self._starts(scene, jobs, arrival.name)
        if after is None or not self._in_pool(arrival, changed, after[arrival.name]):
            return None
        if not all(after[it.name].running or after[it.name].ended is not None for it in again):
            return None
        tied = after[arrival.name].either
        either = tied and any(
            self._starts(scene, jobs, arrival.name, seed) is None for seed in _SEEDS
        )
        cost = _cost(arrival.name, self._before, after)
        replicas = 1 + len(again) if again else 0
        return Remedy(tuple(changes), cost, either=either, placed=True, replicas=replicas)

    def _of_siblings(
        self, changes: Changes, arrival: Arrival
    ) -> Iterator[tuple[Arrival, list[Change]]]:
        """The same changes of the other replicas of its model, if these are changes of the model."""
        named = queue_field(self._scene.cluster, arrival)
        own = [
            it
            for it in changes
            if not isinstance(it, PolicyChange)
            or (isinstance(it, FieldChange) and named is not None and it.changes(named.object))
        ]
        for it in siblings(self._scene, self._jobs, arrival) if own else ():
            name = it.object_name.partition("/")[2]
            yield (
                it,
                [replace(one, name=name) if isinstance(one, FieldChange) else one for one in own],
            )

    def _is_above(self, changed: Arrival, ended: Sequence[Arrival] = ()) -> bool:
        """Whether the plugin overcommit, which refused a job, also refuses it at first after changes.

        Jobs that have ended leave at most what they requested.
        """
        cause = self._found.get(changed.name)
        if cause is None or cause.kind is not CauseKind.VOLCANO_OVERCOMMIT or changed.gang is None:
            return False
        short = cause.obstacles[0]
        each = [counted(short.resource, _of(it, short.resource)) for it in changed.pods]
        freed = sum(
            counted(short.resource, _of(it, short.resource)) * it.count
            for job in ended
            for it in job.pods
        )
        return changed.gang.least * min(each, default=0) > short.free + freed

    def _in_pool(self, before: Arrival, changed: Arrival, run: JobRun) -> bool:
        """Whether its pods run where its quota counts, or on nodes that they could use before."""
        nodes = self._nodes
        if nodes is None:
            return True
        used = {nodes.kube.nodes.all[node].name for _, node in run.bound}
        used -= self._access.nodes(changed)
        same = (before.gang and before.gang.queue) == (changed.gang and changed.gang.queue)
        return not used or (same and used <= {*nodes.usable(before, {})})

    def _starts(
        self, scene: Scene, jobs: Sequence[Arrival], name: str, seed: int = 1
    ) -> Mapping[str, JobRun] | None:
        """What becomes of all jobs, if this one starts."""
        made = self._played(scene, jobs, seed)
        after = _by_name(made)
        return after if name in after and _starts(made, after[name]) else None

    def _played(self, scene: Scene, jobs: Sequence[Arrival], seed: int = 1) -> Timeline:
        """What the schedulers do at the start, as if all jobs were submitted then."""
        submitted = [_submitted(it) for it in jobs]
        made = timeline(scene, submitted, seed=seed, until=_UNTIL_S, shared=self._shapes)
        for _ in made.run():
            pass
        return made

    def _after(
        self, changes: Changes, arrival: Arrival, every: Changes = ()
    ) -> tuple[Scene, Arrival]:
        """The scene and the job after changes. `every` has those of other jobs, too."""
        fields = [it for it in in_objects(every or changes) if isinstance(it, FieldChange)]
        scene = changed_scene(self._scene, fields) if fields else self._scene
        opened = {it.name for it in fields if it.kind == "Node"}
        if opened:
            nodes = (
                replace(it, unschedulable=False) if it.name in opened else it for it in scene.nodes
            )
            scene = replace(scene, nodes=tuple(nodes))
        named = queue_field(scene.cluster, arrival)
        own = [it for it in fields if named is not None and it.changes(named.object)]
        changed = read_again(scene, arrival) if own else arrival
        others = [it for it in changes if not isinstance(it, PolicyChange)]
        if changed.gang is None or not others:
            return scene, changed
        pods = tuple(changed_batch(it, others) for it in changed.pods)
        gang = with_pods(changed.gang, pods, group=arrival.kind == "PodGroup")
        return scene, replace(changed, pods=pods, gang=gang)


def _of(batch: PodBatch, resource: str) -> Fraction:
    """What each pod requests of a resource."""
    return batch.spec.requests.get(resource, Fraction(0))


def _helps(change: Change, cause: Cause) -> bool:
    """Whether a change is about something that keeps the job waiting."""
    reasons = [it.reason for it in cause.node_reasons]
    short = {it.resource for it in cause.obstacles}
    short |= {it.removeprefix(INSUFFICIENT) for it in reasons if it.startswith(INSUFFICIENT)}
    if cause.never is not None and cause.never.nearest is not None:
        short.add(cause.never.nearest.resource)
    match change:
        case RequestChange(resource=resource):
            return resource in short or not short
        case TolerationAdded():
            return any("taint" in it for it in reasons) or not cause.obstacles + cause.node_reasons
        case SelectorChange() | AffinityRemoved() | ConstraintRemoved():
            words = ("affinity", "selector", "spread")
            known = any(word in it for it in reasons for word in words)
            return known or not cause.obstacles + cause.node_reasons
    return True


def _object(scene: Scene, arrival: Arrival) -> Object | None:
    """The Job of Volcano of an arrival; None: it is another object."""
    namespace, _, name = arrival.object_name.partition("/")
    return next(
        (
            it
            for it in scene.cluster.of(VOLCANO_BATCH, _JOB)
            if (it.namespace, it.name) == (namespace, name)
        ),
        None,
    )


def _submitted(it: Arrival) -> Arrival:
    workload = None if it.workload is None else copied(it.workload)
    return replace(it, at=min(it.at, 0.0), workload=workload)


def _starts(made: Timeline, run: JobRun) -> bool:
    """Whether a job runs in the end, and not only until it is evicted again."""
    livelocked = any(run.arrival.name in names for names in made.livelocks)
    return (run.running or run.ended is not None) and not livelocked


def _by_name(run: Timeline) -> Mapping[str, JobRun]:
    return {it.arrival.name: it for it in run.jobs}


def _cost(name: str, before: Mapping[str, JobRun], after: Mapping[str, JobRun]) -> Cost:
    """Who does not run any more, and who runs too."""
    lost = [
        it for it, run in before.items() if run.running and it in after and not after[it].running
    ]
    more = [
        it
        for it, run in before.items()
        if it != name and not run.running and it in after and after[it].running
    ]
    held = {it for it in lost if any(before[it].arrival.nodes) or after[it].preempted}
    return Cost(tuple(sorted(held)), tuple(sorted(set(lost) - held)), tuple(sorted(more)))


def _fewer(object_: Object) -> Iterator[Sequence[Changes]]:
    """Fewer pods of one task."""
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
        yield steps


def _complete(object_: Object, arrival: Arrival) -> Iterator[Sequence[Changes]]:
    """As many pods as must start together."""
    pods = sum(it.count for it in arrival.pods)
    least = arrival.gang.least if arrival.gang is not None else 0
    if pods:
        yield [[_change(object_, ("spec", "minAvailable"), pods)]]
    tasks = mappings(object_.data, "spec", "tasks")
    if tasks and least > pods:
        count = (integer(tasks[0].get("replicas")) or 0) + least - pods
        yield [[_change(object_, ("spec", "tasks", 0, "replicas"), count)]]


def _change(object_: Object, path: tuple[str | int, ...], after: Any) -> FieldChange:
    before: Any = object_.data
    for key in path:
        before = before[int(key)] if isinstance(before, list) else before.get(key)
    return FieldChange(*object_.identity[1:], path, before, after, group=object_.group)


def _more(resource: str, written: Any, asked: Fraction, step: int) -> str:
    """A capability that is higher by some steps of what is asked."""
    more = -(-counted(resource, asked) * step // _STEPS)
    return shown(resource, counted(resource, quantity.read(written).value) + more)
