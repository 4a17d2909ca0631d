"""A simulation as text for people: who waits and why, and tables of jobs, teams and pools."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Final

from msgspec import Struct

from policygen.core.durations import duration
from policygen.core.quoting import counted, listed, times
from policygen.report.amount_words import gpus, names
from policygen.report.cause_words import brief, evicted_because
from policygen.report.simulation_models import models
from policygen.report.tables import BOLD, DIM, NONE, YELLOW, TablePage
from policygen.simulate.model_results import model_results
from policygen.simulate.result import (
    JobResult,
    JobState,
    PoolResult,
    SimulationResult,
    StarvingJob,
    TeamResult,
    TeamUse,
)
from policygen.simulate.state_facts import StateFact

MAX_JOBS: Final = 50
"""The most jobs that a table shows without `--all`."""
_NODES = 3
"""The most nodes of a job that are named."""
_NAMED = 2
"""The most other jobs, or domains, that are named in the notes of a job."""
_STARTS = 3
"""The most times at which pods of a job start that are named."""
_LATER = 5
"""The most jobs that arrive after the end and are named."""
_HOUR = 3600
NEVER = "never"


class SimulationReport(Struct, frozen=True, eq=False):
    """A simulation, and what a reader must know about it."""

    result: SimulationResult
    notes: tuple[str, ...]
    """Assumptions, and inputs that are missing."""
    seed: int
    facts: Mapping[StateFact, str] = {}
    """What decides in the state; empty: it is not compared with another one."""
    lent: str = ""
    """What the state of a comparison lacks, and uses of the other one; empty: it lacks nothing."""
    at: str = ""
    """The option of `policygen why` for the end of the simulation, which a trace needs."""
    interrupted: str = ""
    """What Ctrl-C kept from being simulated, besides the rest of a partial result."""
    unread: tuple[str, ...] = ()
    """What could not be read of the cluster."""


def write(report: SimulationReport, page: TablePage, *, every: bool = False) -> None:
    """Write a simulation. `every` lists all jobs."""
    result = report.result
    for line in not_read(report.unread):
        page.line(line)
    page.line((summary(result), BOLD))
    _waiting(page, result, every=every)
    models(page, model_results(result.jobs), result.pools)
    _jobs(page, [it for it in result.jobs if every or not it.model], every=every)
    _teams(page, result.teams)
    _quotas(page, result)
    _pools(page, result)
    remarks(page, report)


def not_read(messages: Iterable[str]) -> list[str]:
    """Lines before an answer about what could not be read; empty if everything was read."""
    lines = [f"Not read: {it}" for it in messages]
    return (
        [*lines, "The answer can be wrong, because it depends on what was not read.", ""]
        if lines
        else []
    )


def summary(result: SimulationResult) -> str:
    """How many jobs ended, run and wait: `40 jobs in 6h 20m: 31 ended, 4 run and 5 never start`."""
    states = [it.state for it in result.jobs]
    ended, runs, waits, never = (
        states.count(it)
        for it in (JobState.ENDED, JobState.RUNNING, JobState.WAITING, JobState.NEVER)
    )
    parts = [f"{ended} ended"]
    if runs:
        parts.append(f"{runs} {'runs' if runs == 1 else 'run'} at the end")
    if waits:
        parts.append(f"{waits} still {'waits' if waits == 1 else 'wait'}")
    if never:
        parts.append(f"{never} never {'starts' if never == 1 else 'start'}")
    early = "; interrupted, so the report is partial" if result.partial else ""
    return (
        f"{counted(len(states), 'job')} in {duration(result.until)}: {listed(parts, 'and')}{early}"
    )


def wait(seconds: float) -> str:
    """A waiting time, which is infinite if a job never starts."""
    return duration(seconds) if isfinite(seconds) else NEVER


def waited(job: JobResult) -> str:
    """How long a job waited: `2h`, `2h+` if it still waits, `never` if it never starts."""
    return wait(job.wait) + ("+" if job.state is JobState.WAITING else "")


def gpu_hours(gpu_seconds: float) -> str:
    """GPU hours with one decimal."""
    return f"{gpu_seconds / _HOUR:,.1f}"


def remarks(page: TablePage, report: SimulationReport) -> None:
    """What the reader must know about a simulation."""
    result = report.result
    lines = [
        *(
            f"livelock: {', '.join(them)} preempt each other without end"
            for them in result.livelocks
        ),
        *(
            f"not modelled: {it.feature} ({counted(it.workloads, 'job')})"
            for it in result.unmodelled
        ),
        *(f"note: {it}" for it in (report.interrupted, *report.notes) if it),
    ]
    if any(it.cause is not None for it in result.jobs):
        why = f"policygen why JOB {report.at}".strip()
        lines.append(f"note: `{why}`, with the same input, finds changes that let a job start")
    if lines:
        page.line()
    for line in lines:
        page.line(line)


def _waiting(page: TablePage, result: SimulationResult, *, every: bool) -> None:
    starving = {it.name: it for it in result.starving}
    for state, title in (
        (JobState.NEVER, "Jobs that never start"),
        (JobState.WAITING, "Jobs that still wait"),
    ):
        them = [it for it in result.jobs if it.state is state]
        shown = them if every else them[:MAX_JOBS]
        if them:
            page.heading(title)
        for it in shown:
            again = f", after {_after(it)}" if it.started is not None else ""
            words = f" ({it.team}, {counted(it.gpus, it.unit)}{again}): {brief(it)}"
            page.line((it.name, YELLOW), words)
            if it.message and it.message not in words:
                page.line(
                    (f"{it.reason}: {it.message}" if it.reason else it.message, DIM), indent=4
                )
            if it.name in starving:
                page.line(_starves(starving[it.name]), indent=4)
        page.rest(len(them) - len(shown), "job")
    if result.later:
        arrive = "arrives" if len(result.later) == 1 else "arrive"
        page.line()
        page.line(
            f"{counted(len(result.later), 'job')} {arrive} after the end: {names(result.later, _LATER)}"
        )


def _starves(job: StarvingJob) -> str:
    """`starves: 12 jobs that were submitted later started; without them, it starts at 2h and ends at 4h`."""
    return (
        f"starves: {counted(job.later, 'job')} that {'was' if job.later == 1 else 'were'} submitted later started; without "
        f"later jobs, it starts at {duration(job.starts)} and ends at {duration(job.ends)}"
    )


def _after(job: JobResult) -> str:
    """What happened to a job that started and waits again."""
    if not job.preempted and not job.evicted and job.pods_run:
        return f"{job.pods_run} of its {job.pods} pods have run"
    return "an eviction" if job.evicted and not job.preempted else "a preemption"


def _jobs(page: TablePage, jobs: Sequence[JobResult], *, every: bool) -> None:
    if not jobs:
        return
    shown = jobs if every else jobs[:MAX_JOBS]
    rows = [
        (
            it.name,
            it.team,
            gpus(it.gpus, it.unit),
            duration(it.submitted),
            NONE if it.started is None else duration(it.started),
            waited(it),
            NONE if it.ended is None else duration(it.ended),
            ", ".join(it.flavors) or NONE,
            _nodes(it),
            _note(it),
        )
        for it in shown
    ]
    heads = (
        "JOB", "TEAM", "GPUS", "SUBMITTED", "STARTED", "WAITED", "ENDED", "FLAVOR", "NODES", "NOTES",
    )  # fmt: skip
    below = {9: "", 8: "nodes ", 7: "flavor ", 1: "team ", 3: "submitted at ", 6: "ended at "}
    page.table("Jobs", heads, rows, range(2, 7), below)
    page.rest(len(jobs) - len(shown), "job")


def _nodes(job: JobResult) -> str:
    found = [name if count == 1 else f"{name} ×{count}" for name, count in job.nodes.items()]
    return names(found, _NODES) or NONE


def _note(job: JobResult) -> str:
    parts = [*_pods(job)]
    parts += [f"borrows {amount} {flavor}" for flavor, amount in job.borrowed.items()]
    if job.domains:
        parts.append(f"in {names([*job.domains], _NAMED)}")
    if job.preempts:
        parts.append(f"preempts {names(job.preempts, _NAMED)}")
    if job.preempted:
        by = names(job.preempted_by, _NAMED)
        parts.append(
            f"preempted {times(job.preempted)} by {by} ({duration(job.lost)} lost{_again(job)})"
        )
    elif job.preemptions:
        hours = gpu_hours(job.lost_gpu_seconds)
        by = names(job.preempted_by, _NAMED)
        parts.append(f"some pods preempted by {by} ({hours} GPU hours lost)")
    if job.evicted:
        parts.append(f"evicted {times(job.evicted)}, because {evicted_because(job)}")
    if job.either:
        parts.append("a tie: it can also come out differently")
    return "; ".join(parts)


def _pods(job: JobResult) -> Iterator[str]:
    """What is special about its pods: `runs with 3 of 5 pods`, `2 of 6 pods started at 10m and 4 at 30m`."""
    if len(job.pod_starts) > 1:
        (first, count), *rest = job.pod_starts
        more = rest[: _STARTS - 1]
        parts = [f"{count} of {job.pods} pods started at {duration(first)}"]
        parts += [f"{count} at {duration(at)}" for at, count in more]
        late = sum(count for _, count in rest[_STARTS - 1 :])
        parts += [f"{late} later"] if late else []
        yield listed(parts, "and")
    elif 0 < job.pods_run < job.pods:
        why = f", because a ResourceQuota refuses {job.refused}" if job.refused else ""
        yield f"runs with {job.pods_run} of {job.pods} pods{why}"


def _again(job: JobResult) -> str:
    """How long it waited after it had started: `, waited again 2h`."""
    if job.started is None or job.state is JobState.NEVER:
        return ""
    again = job.waited - (job.started - job.submitted)
    return f", waited again {duration(again)}" if round(again) > 0 else ""


def _teams(page: TablePage, teams: Sequence[TeamResult]) -> None:
    rows = [
        (
            it.name,
            f"{it.jobs}",
            f"{it.finished}",
            f"{it.never}" if any(one.never for one in teams) else "",
            wait(it.waiting_median) if it.jobs else NONE,
            wait(it.waiting_p95) if it.jobs else NONE,
            gpu_hours(it.gpu_seconds),
            gpu_hours(it.lost_gpu_seconds),
        )
        for it in teams
    ]
    heads = (
        "TEAM", "JOBS", "ENDED", "NEVER START", "MEDIAN WAIT", "95 % WAIT", "GPU HOURS RUN", "LOST",
    )  # fmt: skip
    page.table(
        "Teams", heads, rows, range(1, 8), {7: "lost ", 6: "GPU hours run ", 5: "95 % wait "}
    )


def _quotas(page: TablePage, result: SimulationResult) -> None:
    named = [(it.name, it.uses) for it in result.teams] + [*result.groups.items()]
    several = several_resources(use for _, uses in named for use in uses)
    rows = [
        (
            name,
            use.pool,
            use.resource if several else "",
            f"{use.guarantee}",
            f"{use.limit}",
            f"{use.gpu_seconds / result.until:.1f}" if result.until > 0 else NONE,
            f"{use.most}",
            gpu_hours(use.gpu_seconds),
        )
        for name, uses in named
        for use in uses
    ]
    heads = (
        "TEAM", "POOL", "RESOURCE", "GUARANTEE", "LIMIT", "MEAN USED", "MOST USED", "GPU HOURS HELD",
    )  # fmt: skip
    below = {7: "GPU hours held ", 2: "resource ", 5: "mean used ", 6: "most used "}
    units = {it.unit for it in result.pools}
    what = "GPUs" if units <= {"GPU"} else "the units of each pool"
    page.table(f"Quotas and their use, in {what}", heads, rows, range(3, 8), below)


def several_resources(uses: Iterable[TeamUse]) -> frozenset[str]:
    """The pools with several kinds of accelerators, such as MIG instances."""
    found: dict[str, set[str]] = {}
    for it in uses:
        found.setdefault(it.pool, set()).add(it.resource)
    return frozenset(pool for pool, resources in found.items() if len(resources) > 1)


def _free(pool: PoolResult) -> str:
    """The GPU hours that were free, by cause, without those that are too few to show."""
    hours = {cause: gpu_hours(it) for cause, it in pool.stranded.items()}
    return "; ".join(f"{it}: {shown}" for it, shown in hours.items() if shown != "0.0") or NONE


def _pools(page: TablePage, result: SimulationResult) -> None:
    rows = [
        (
            it.name,
            gpus(it.gpus, it.unit),
            f"{it.jobs}",
            wait(it.waiting_median) if it.jobs else NONE,
            wait(it.waiting_p95) if it.jobs else NONE,
            _share(it.used_mean, it.gpus) if result.until > 0 else NONE,
            f"{it.used_most}",
            _free(it),
        )
        for it in result.pools
    ]
    heads = (
        "POOL", "GPUS", "JOBS", "MEDIAN WAIT", "95 % WAIT", "MEAN USED", "MOST USED",
        "GPU HOURS FREE, BY CAUSE",
    )  # fmt: skip
    page.table(
        "Pools",
        heads,
        rows,
        range(1, 7),
        {7: "GPU hours free, by cause: ", 4: "95 % wait ", 5: "mean used "},
    )


def _share(used: float, gpus: int) -> str:
    return f"{used:.1f} ({100 * used / gpus:.0f} %)" if gpus else f"{used:.1f}"
