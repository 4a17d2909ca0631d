"""When a job starts that does not exist yet, by a simulation of all jobs over time."""

import dataclasses
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from policygen.simulate.arrival import Arrival
from policygen.simulate.over_time.job_run import JobRun
from policygen.simulate.over_time.kueue_runs import RETRY_AFTER_S
from policygen.simulate.scene import Scene, timeline

_LATER_S = 0.001
"""The job arrives after all that exist."""


class Start(Struct, frozen=True):
    """When a workload starts if no other one arrives."""

    after: float | None
    """Seconds from now; None: it is not known."""
    ends: tuple[str, ...] = ()
    """The workloads that end until then, in their order."""
    unknown: int = 0
    """Running workloads whose duration is not known."""
    preempts: tuple[str, ...] = ()
    """Those that must leave then."""
    left: tuple[str, ...] = ()
    """If it never starts: those that still hold quota or nodes when nothing changes any more."""


def start(scene: Scene, arrivals: Sequence[Arrival], job: Arrival) -> Start:
    """When a job starts, with all workloads that end until then, if every other job is submitted now."""
    made = timeline(scene, [*map(_now, arrivals), replace(_now(job), at=_LATER_S)])
    own = made.jobs[-1]
    for _ in made.run():
        if own.started is not None:
            break
    others = made.jobs[:-1]
    if own.started is None:
        unknown = sum(it.running and it.arrival.duration is None for it in others)
        left = tuple(it.arrival.name for it in others if it.active or it.bound)
        return Start(None, unknown=unknown, left=left)
    ended = sorted((_ended(it), it.index) for it in others if it.ended is not None)
    last = ended[-1][0] if ended else 0.0
    # Kueue tries inadmissible workloads again a moment after an end.
    after = last if own.started - last <= RETRY_AFTER_S + _LATER_S else own.started
    names = tuple(others[index].arrival.name for _, index in ended)
    return Start(after, names, preempts=tuple(own.preempts))


def _ended(run: JobRun) -> float:
    return run.ended if run.ended is not None else 0.0


def _now(it: Arrival) -> Arrival:
    """The same job, for another simulation."""
    workload = None if it.workload is None else dataclasses.replace(it.workload)
    return replace(it, at=min(it.at, 0.0), workload=workload)
