"""When a job starts, by a simulation of all jobs over time, and whose ends it needs."""

from collections.abc import Callable, Sequence
from copy import copy

from msgspec import Struct
from msgspec.structs import replace

from policygen.simulate.arrival import Arrival
from policygen.simulate.over_time.job_run import JobRun
from policygen.simulate.over_time.kueue_runs import RETRY_AFTER_S
from policygen.simulate.scene import Scene
from policygen.simulate.scene_schedulers import timeline
from policygen.simulate.timeline import Timeline
from policygen.simulate.why.causes import Cause
from policygen.simulate.why.ends import fewest
from policygen.simulate.why.gang_remedies import Gangs
from policygen.simulate.why.owners import WorkloadOwners
from policygen.simulate.why.scene_nodes import SceneNodes
from policygen.simulate.why.scene_situation import SceneQueues, asked_workload
from policygen.simulate.why.situation import Situation

_SIMULATED = 200
"""The most jobs whose ends are simulated."""
_LATER_S = 0.001
"""The job arrives after all that exist."""


class Start(Struct, frozen=True):
    """When a workload starts if no other one arrives."""

    after: float | None
    """Seconds from now; None: it is not known."""
    ends: tuple[str, ...] = ()
    """The workloads that end until then, in their order."""
    ended: tuple[float, ...] = ()
    """When each of them ends."""
    unknown: int = 0
    """Running workloads whose duration is not known."""
    preempts: tuple[str, ...] = ()
    """Those that must leave then."""
    nodes: tuple[tuple[str, int], ...] = ()
    """How many nodes an autoscaler adds until then, by pool."""
    left: tuple[str, ...] = ()
    """If it never starts: those that still hold quota or nodes when nothing changes any more."""


def start(scene: Scene, arrivals: Sequence[Arrival], job: Arrival, seed: int = 1) -> Start:
    """When a job starts, with all workloads that end until then, if every other job is submitted now."""
    made = timeline(scene, [*map(_now, arrivals), replace(_now(job), at=_LATER_S)], seed=seed)
    own = made.jobs[-1]
    for _ in made.run():
        if own.started is not None and not own.refused and not _preempted_again(made, own):
            break
    others = made.jobs[:-1]
    if own.started is None or own.refused or _preempted_again(made, own):
        unknown = sum(it.running and it.arrival.duration is None for it in others)
        left = tuple(it.arrival.name for it in others if it.active or it.bound)
        return Start(None, unknown=unknown, left=left)
    ended = sorted((_ended(it), it.index) for it in others if it.ended is not None)
    last = ended[-1][0] if ended else 0.0
    # Kueue tries inadmissible workloads again a moment after an end.
    started = made.now if own.preemptions else own.started
    after = last if started - last <= RETRY_AFTER_S + _LATER_S else round(started, 2)
    names = tuple(others[index].arrival.name for _, index in ended)
    times = tuple(time for time, _ in ended)
    before = {it.name: it.begins for it in scene.growing}
    more = ((it.name, it.begins - before[it.name]) for it in made.growing)
    nodes = tuple((name, count) for name, count in more if count > 0)
    return Start(after, names, times, preempts=tuple(own.preempts), nodes=nodes)


def _preempted_again(made: Timeline, own: JobRun) -> bool:
    """Whether a job that started is in a livelock: others preempt it at this time, or it waits since then."""
    name = own.arrival.name
    if own.ended is not None or not any(name in names for names in made.livelocks):
        return False
    return not own.running or any(it.at == made.now for it in own.preemptions)


def _ended(run: JobRun) -> float:
    return run.ended if run.ended is not None else 0.0


def _now(it: Arrival) -> Arrival:
    """The same job, for another simulation."""
    return replace(it, at=min(it.at, 0.0), workload=copy(it.workload))


class StartTimes:
    """When jobs of a scene start, and new ones."""

    def __init__(  # noqa: PLR0913 - the parts of one scene
        self,
        scene: Scene,
        arrivals: Sequence[Arrival],
        *,
        queues: SceneQueues,
        nodes: SceneNodes,
        owners: WorkloadOwners,
        gangs: Callable[[Arrival], Gangs],
    ) -> None:
        self._scene, self._arrivals = scene, arrivals
        self._queues, self._nodes, self._owners = queues, nodes, owners
        self._gangs = gangs

    def of(self, arrival: Arrival, seed: int = 1) -> Start:
        """When a new workload starts, by the durations of all."""
        if arrival.gang is not None:
            found = start(self._scene, self._arrivals, arrival, seed)
            return _needing(found, self._gangs(arrival).ends(arrival))
        workload = arrival.workload
        if workload is None:
            running = [it for it in self._arrivals if any(it.nodes)]
            if running and all(it.duration is None for it in running) and not self._scene.growing:
                return Start(None, unknown=len(running))
            nodes = self._nodes.now()
            needed = nodes.ends(arrival, {}) if nodes is not None else ()
            return _needing(start(self._scene, self._arrivals, arrival, seed), needed)
        asked = asked_workload(arrival, workload, self._scene)
        near, _ = self._queues.around(asked)
        held = [it.name for them in near.held.values() for it in them]
        by_workload = self._owners.by_workload
        owners = [by_workload[it] for it in held if it in by_workload]
        if all(it.duration is None for it in owners) and not self._scene.growing:
            return Start(None, unknown=len(held))
        found = start(self._scene, self._arrivals, arrival, seed)
        by_owner = {it.name: it.workload.name for it in owners if it.workload is not None}
        ends = [it for it in found.ends if it in by_owner]

        def admits(gone: Sequence[str]) -> bool:
            left = frozenset(by_owner[it] for it in gone)
            return asked.name in near.settle(asked, without=left).admitted

        return _needing(found, fewest(ends, admits))

    def with_nodes(self, arrival: Arrival) -> Start:
        """When a workload starts, with the nodes that an autoscaler adds."""
        return start(self._scene, [it for it in self._arrivals if it is not arrival], arrival)

    def ends(self, arrival: Arrival, cause: Cause, near: Situation) -> tuple[str, ...]:
        """The workloads near it that end before it starts, by their durations; empty: they are not known."""
        others = [it for it in self._arrivals if it is not arrival]
        if cause.lasts or len(others) > _SIMULATED or all(it.duration is None for it in others):
            return ()
        flavors = {it.flavor for it in cause.obstacles} - {""}
        names = near.using(flavors) if flavors else near.names
        own = {self._owners.name(it) for it in names}
        return tuple(it for it in start(self._scene, others, arrival).ends if it in own)


def _needing(found: Start, ends: Sequence[str]) -> Start:
    """A start with only the ends that it needs.

    They are not known if it starts before all of them, or much later. Then other jobs started and ended in
    between, and the last end before it is named if it starts at that time.
    """
    times = dict(zip(found.ends, found.ended, strict=True))
    for some in (ends, found.ends[-1:]):
        if some and {*some} <= {*times} and _starts_at(found, max(times[it] for it in some)):
            return replace(found, ends=tuple(some), ended=tuple(times[it] for it in some))
    return replace(found, ends=(), ended=())


def _starts_at(found: Start, end: float) -> bool:
    return found.after is None or found.after - end <= RETRY_AFTER_S + _LATER_S
