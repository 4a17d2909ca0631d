"""What chance decides: simulations with other random choices, compared with the first one.

Random are kube-scheduler's choice among equal nodes, Kueue's order of equal workloads (by UID, which
manifests do not have), and what the engines know as ties. One choice can change what happens to other jobs
much later, so only other simulations show for whom chance matters.
"""

from collections.abc import Iterable, Iterator, Sequence
from random import Random

from msgspec.structs import replace

from policygen.simulate.arrival import Arrival
from policygen.simulate.result import JobResult, JobState, SimulationResult

OTHERS = 2
"""The number of other simulations that are compared."""
MOST_JOBS = 200
"""Of more jobs, there is only the first simulation."""


def seeds(first: int, jobs: int) -> range:
    """The seeds of the other simulations; empty if there are too many jobs."""
    return range(first + 1, first + 1 + (OTHERS if jobs <= MOST_JOBS else 0))


def with_uids(arrivals: Iterable[Arrival], seed: int) -> Iterator[Arrival]:
    """The jobs, with random UIDs where the UID is not known: UIDs order equal jobs.

    An unknown UID of a Workload is the place of the object, which contains a slash. That of a PodGroup is
    missing after the dash at the end of its name. Changes the Workloads in place.
    """
    for it in arrivals:
        workload, gang = it.workload, it.gang
        if workload is not None and "/" in workload.uid:
            number = Random(f"{seed} {workload.uid}").random()  # noqa: S311 - a simulation
            workload.uid = f"{number:.15f}/{workload.uid}"
        if gang is not None and gang.group.endswith("-"):
            uid = Random(f"{seed} {it.name}").getrandbits(32)  # noqa: S311 - a simulation
            yield replace(it, gang=replace(gang, group=f"{gang.group}{uid:08x}"))
        else:
            yield it


def marked(result: SimulationResult, others: Sequence[SimulationResult]) -> SimulationResult:
    """The result, with a mark on each job that comes out differently in one of the other simulations."""
    outcomes = [{it.name: _outcome(it) for it in other.jobs} for other in others]
    jobs = (
        replace(it, either=it.either or any(other[it.name] != _outcome(it) for other in outcomes))
        for it in result.jobs
    )
    return replace(result, jobs=tuple(jobs))


def _outcome(job: JobResult) -> tuple[object, ...]:
    """What matters of a job; the names of its nodes do not.

    How long a job waits that does not run at the end, and how often it was evicted until then, depends on
    the end, which other jobs decide.
    """
    runs = job.state in (JobState.ENDED, JobState.RUNNING)
    until_it_ran = (job.waited, job.flavors, job.evicted) if runs else ()
    return job.state, job.started, job.ended, job.preempted, until_it_ran
