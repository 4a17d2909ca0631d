"""Jobs that starve: others that were submitted later start again and again, and keep them waiting.

Only jobs that arrive later can do that, so the input needs times, and the simulation an end. A job starves if
it still waits at the end, and would have ended by then without all jobs that were submitted after it.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator

from policygen.simulate.result import (
    JobResult,
    JobState,
    SimulationResult,
    StarvingJob,
)

MOST_JOBS = 2_000
"""Of more jobs, no other simulation is made."""
MOST_TRIED = 5
"""The most jobs for which another simulation is made: those that wait the longest."""


def overtaken(result: SimulationResult) -> Iterator[tuple[JobResult, int]]:
    """Jobs that wait longer than they run, and how many later ones started; those that wait the longest first."""
    waiting = sorted(
        (it for it in result.jobs if it.state is JobState.WAITING),
        key=lambda it: (-it.waited, it.name),
    )
    started = sorted(it.submitted for it in result.jobs if it.started is not None)
    for job in waiting:
        later = len(started) - bisect_right(started, job.submitted)
        if later and job.duration is not None and job.waited >= job.duration:
            yield job, later


def starving(
    jobs: Iterable[tuple[JobResult, int]], without_later: Callable[[JobResult], SimulationResult]
) -> Iterator[StarvingJob]:
    """Those of `overtaken` jobs that would have ended. The function simulates only the jobs until a job."""
    for job, later in jobs:
        found = next(it for it in without_later(job).jobs if it.name == job.name)
        if found.started is not None and found.ended is not None:
            yield StarvingJob(job.name, later, found.started, found.ended)
