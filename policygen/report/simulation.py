"""A simulation as text for people: who waits and why, and tables of jobs, teams and pools."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TextIO

from msgspec import Struct

from policygen.core.durations import duration
from policygen.core.quoting import counted
from policygen.report.text import printable, width
from policygen.simulate.comparison import Comparison, JobChange, TeamChange
from policygen.simulate.plain_words import plain
from policygen.simulate.result import JobResult, PoolResult, SimulationResult, TeamResult

MAX_JOBS: Final = 50
"""So many jobs a table shows without `--all`."""
_NODES = 3
"""So many nodes of a job are named."""
_HOUR = 3600
_BOLD, _DIM, _YELLOW, _RESET = "\x1b[1m", "\x1b[2m", "\x1b[1;33m", "\x1b[0m"
_NONE = "-"


class SimulationReport(Struct, frozen=True, eq=False):
    """A simulation, and what a reader must know about it."""

    result: SimulationResult
    notes: tuple[str, ...]
    """Assumptions, and inputs that are missing."""
    seed: int


Row = tuple[str, ...]


def write(
    report: SimulationReport, out: TextIO, *, colour: bool = False, every: bool = False
) -> None:
    """Write a simulation. `every` lists all jobs."""
    page = _TablePage(out, colour=colour)
    result = report.result
    page.line((summary(result), _BOLD))
    _waiting(page, result.jobs, every=every)
    _jobs(page, result.jobs, every=every)
    _teams(page, result.teams)
    _pools(page, result.pools)
    _remarks(page, report)


def write_comparison(
    reports: tuple[SimulationReport, SimulationReport],
    out: TextIO,
    *,
    colour: bool = False,
    every: bool = False,
) -> None:
    """Write what differs between two simulations: first what it means for each team."""
    page = _TablePage(out, colour=colour)
    before, after = reports
    compared = Comparison(before.result, after.result)
    page.line(("before: ", _BOLD), summary(before.result))
    page.line(("after:  ", _BOLD), summary(after.result))
    page.line()
    lines = list(consequences(compared))
    for line in lines or ["Nothing changes for any team."]:
        page.line(line)
    _team_changes(page, list(compared.teams))
    changes = sorted(
        (it for it in compared.jobs if it.differs), key=lambda it: (-abs(it.waited), it.after.name)
    )
    _job_changes(page, changes, every=every)
    _remarks(page, after)


def summary(result: SimulationResult) -> str:
    """How many jobs ended, run and wait: `40 jobs in 6h 20m: 31 ended, 4 run and 5 wait at the end`."""
    jobs = result.jobs
    ended = sum(it.ended is not None for it in jobs)
    runs = sum(it.running for it in jobs)
    waits = len(jobs) - ended - runs
    early = "; interrupted, so the report is partial" if result.partial else ""
    return (
        f"{counted(len(jobs), 'job')} in {duration(result.until)}: {ended} ended, {runs} "
        f"{'runs' if runs == 1 else 'run'} and {waits} {'waits' if waits == 1 else 'wait'} at the end{early}"
    )


def consequences(compared: Comparison) -> Iterator[str]:
    """What differs for each team, one line each, the largest change of the median first."""
    changes = sorted(
        compared.teams,
        key=lambda it: (-abs(it.after.waiting_median - it.before.waiting_median), it.name),
    )
    for team in changes:
        parts = list(_consequences(team))
        if parts:
            yield f"{team.name}: {'; '.join(parts)}"


def _consequences(team: TeamChange) -> Iterator[str]:
    before, after = team.before, team.after
    if before.waiting_median != after.waiting_median:
        more = after.waiting_median > before.waiting_median
        yield (
            f"waits {'longer' if more else 'shorter'}, {duration(after.waiting_median)} instead of "
            f"{duration(before.waiting_median)} (median)"
        )
    if before.waiting_p95 != after.waiting_p95:
        yield f"{duration(after.waiting_p95)} instead of {duration(before.waiting_p95)} (95th percentile)"
    if before.started != after.started:
        yield f"{after.started} instead of {counted(before.started, 'job')} start"
    if before.preempted != after.preempted:
        yield f"{counted(after.preempted, 'preemption')} instead of {before.preempted}"
    if round(team.useful):
        word = "more" if team.useful > 0 else "fewer"
        yield f"{gpu_hours(abs(team.useful))} GPU hours {word} of useful work"
    if round(team.lost):
        word = "more" if team.lost > 0 else "fewer"
        yield f"{gpu_hours(abs(team.lost))} GPU hours {word} lost to preemptions"


def gpu_hours(gpu_seconds: float) -> str:
    """GPU hours with one decimal."""
    return f"{gpu_seconds / _HOUR:,.1f}"


def _waiting(page: "_TablePage", jobs: Sequence[JobResult], *, every: bool) -> None:
    them = [it for it in jobs if it.ended is None and not it.running]
    if not them:
        return
    page.heading("Jobs that wait at the end")
    shown = them if every else them[:MAX_JOBS]
    for it in shown:
        why = f" ({it.team}, {counted(it.gpus, 'GPU')}): {plain(it) or 'waits'}"
        page.line((it.name, _YELLOW), why)
        if it.message and it.message != plain(it):
            page.line((f"    {it.reason}: {it.message}", _DIM))
    page.rest(len(them) - len(shown), "job")


def _jobs(page: "_TablePage", jobs: Sequence[JobResult], *, every: bool) -> None:
    shown = jobs if every else jobs[:MAX_JOBS]
    rows = [
        (
            it.name,
            it.team,
            f"{it.gpus}",
            duration(it.submitted),
            _time(it.started),
            duration(it.waited),
            _time(it.ended),
            ", ".join(it.flavors) or _NONE,
            _nodes(it),
            _note(it),
        )
        for it in shown
    ]
    page.table(
        "Jobs",
        (
            "JOB",
            "TEAM",
            "GPUS",
            "SUBMITTED",
            "STARTED",
            "WAITED",
            "ENDED",
            "FLAVOR",
            "NODES",
            "NOTES",
        ),
        rows,
        numbers=range(2, 7),
    )
    page.rest(len(jobs) - len(shown), "job")


def _time(at: float | None) -> str:
    return _NONE if at is None else duration(at)


def _nodes(job: JobResult) -> str:
    names = [name if count == 1 else f"{name} ×{count}" for name, count in job.nodes.items()]
    more = [f"and {len(names) - _NODES} more"] if len(names) > _NODES else []
    return ", ".join([*names[:_NODES], *more]) or _NONE


def _note(job: JobResult) -> str:
    parts = [f"borrows {amount} {flavor}" for flavor, amount in job.borrowed.items()]
    if job.preempts:
        parts.append(f"preempts {_names(job.preempts)}")
    if job.preempted:
        times = "once" if job.preempted == 1 else f"{job.preempted} times"
        parts.append(f"preempted {times} by {_names(job.preempted_by)} ({duration(job.lost)} lost)")
    if job.evicted:
        times = "once" if job.evicted == 1 else f"{job.evicted} times"
        parts.append(f"evicted {times}, because its pods were not ready in time")
    if job.either:
        parts.append("a tie: it can also come out differently")
    return "; ".join(parts)


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return ", ".join(names[:2]) + more


def _teams(page: "_TablePage", teams: Sequence[TeamResult]) -> None:
    rows = []
    for it in teams:
        first: Row = (
            it.name,
            f"{it.jobs}",
            f"{it.finished}",
            duration(it.waiting_median),
            duration(it.waiting_p95),
            gpu_hours(it.gpu_seconds),
            gpu_hours(it.lost_gpu_seconds),
        )
        uses = [
            (
                use.pool,
                f"{use.guarantee}",
                f"{use.limit}",
                f"{use.most}",
                gpu_hours(use.gpu_seconds),
            )
            for use in it.uses
        ] or [(_NONE,) * 5]
        rows.append((*first, *uses[0]))
        rows += [(("",) * len(first)) + use for use in uses[1:]]
    page.table(
        "Teams",
        (
            "TEAM", "JOBS", "ENDED", "WAITING: MEDIAN", "95 %", "GPU HOURS RUN", "LOST", "POOL",
            "GUARANTEE", "LIMIT", "MOST USED", "GPU HOURS HELD",
        ),
        rows,
        numbers=(1, 2, 3, 4, 5, 6, 8, 9, 10, 11),
    )  # fmt: skip


def _pools(page: "_TablePage", pools: Sequence[PoolResult]) -> None:
    rows = [
        (
            it.name,
            f"{it.gpus}",
            f"{it.jobs}",
            duration(it.waiting_median),
            duration(it.waiting_p95),
            _share(it.used_mean, it.gpus),
            f"{it.used_most}",
            "; ".join(f"{cause}: {gpu_hours(it.stranded[cause])}" for cause in it.stranded)
            or _NONE,
        )
        for it in pools
    ]
    page.table(
        "Pools",
        (
            "POOL", "GPUS", "JOBS", "WAITING: MEDIAN", "95 %", "MEAN USED", "MOST USED",
            "GPU HOURS FREE WHILE JOBS WAIT",
        ),
        rows,
        numbers=range(1, 7),
    )  # fmt: skip


def _share(used: float, gpus: int) -> str:
    return f"{used:.1f} ({100 * used / gpus:.0f} %)" if gpus else f"{used:.1f}"


def _team_changes(page: "_TablePage", teams: Sequence[TeamChange]) -> None:
    def both(value: Callable[[TeamResult], str], it: TeamChange) -> str:
        before, after = value(it.before), value(it.after)
        return before if before == after else f"{before} -> {after}"

    rows = [
        (
            it.name,
            both(lambda one: f"{one.jobs}", it),
            both(lambda one: f"{one.finished}", it),
            both(lambda one: duration(one.waiting_median), it),
            both(lambda one: duration(one.waiting_p95), it),
            both(lambda one: f"{one.preempted}", it),
            both(lambda one: gpu_hours(one.gpu_seconds - one.lost_gpu_seconds), it),
            both(lambda one: gpu_hours(one.lost_gpu_seconds), it),
            both(
                lambda one: "; ".join(f"{use.guarantee} {use.pool}" for use in one.uses) or _NONE,
                it,
            ),
        )
        for it in teams
    ]
    page.table(
        "Teams",
        (
            "TEAM", "JOBS", "ENDED", "WAITING: MEDIAN", "95 %", "PREEMPTIONS", "USEFUL GPU HOURS",
            "LOST", "GUARANTEE",
        ),
        rows,
        numbers=range(1, 8),
    )  # fmt: skip


def _job_changes(page: "_TablePage", changes: Sequence[JobChange], *, every: bool) -> None:
    shown = changes if every else changes[:MAX_JOBS]
    rows = [
        (
            it.after.name,
            it.after.team,
            f"{it.after.gpus}",
            duration(it.before.waited),
            duration(it.after.waited),
            ("+" if it.waited > 0 else "") + duration(it.waited),
            f"{it.before.preempted}" + (f" -> {it.after.preempted}" if it.preempted else ""),
            _start_change(it),
        )
        for it in shown
    ]
    page.table(
        "Jobs that change, the largest change first",
        ("JOB", "TEAM", "GPUS", "WAITED BEFORE", "AFTER", "CHANGE", "PREEMPTED", "NOTES"),
        rows,
        numbers=range(2, 7),
    )
    page.rest(len(changes) - len(shown), "job")


def _start_change(change: JobChange) -> str:
    parts = {1: ["starts only after the change"], -1: ["does not start any more"]}.get(
        change.starts, []
    )
    if change.preempted > 0:
        parts.append(f"preempted by {_names(change.after.preempted_by)}")
    return "; ".join(parts)


def _remarks(page: "_TablePage", report: SimulationReport) -> None:
    result = report.result
    lines = [
        *(
            f"livelock: {', '.join(names)} preempt each other without end"
            for names in result.livelocks
        ),
        *(
            f"not modelled: {it.feature} ({counted(it.workloads, 'job')})"
            for it in result.unmodelled
        ),
        *(f"note: {it}" for it in report.notes),
    ]
    if lines:
        page.line()
    for line in lines:
        page.line(line)


class _TablePage:
    """Writes lines and tables."""

    def __init__(self, out: TextIO, *, colour: bool) -> None:
        self._out = out
        self._colour = colour

    def line(self, *parts: str | tuple[str, str]) -> None:
        """One line of texts; a text with a hue is painted. Characters that control a terminal are escaped."""
        shown = [
            self._painted(*it) if isinstance(it, tuple) else self._printable(it) for it in parts
        ]
        self._out.write(f"{''.join(shown).rstrip()}\n")

    def heading(self, text: str) -> None:
        """An empty line and a title."""
        self.line()
        self.line((text, _BOLD))

    def rest(self, number: int, noun: str) -> None:
        """How many things are not shown."""
        if number > 0:
            self.line(f"and {counted(f'{number} more', noun, f'{noun}s')} (--all shows all)")

    def table(
        self, title: str, heads: Row, rows: Sequence[Row], numbers: Iterable[int] = ()
    ) -> None:
        """A title and aligned columns; nothing without rows. Empty columns at the end are omitted."""
        if not rows:
            return
        while heads and not any(row[len(heads) - 1] for row in rows):
            heads = heads[:-1]
        self.heading(title)
        right = frozenset(numbers)
        cells = [[self._printable(it) for it in row[: len(heads)]] for row in (heads, *rows)]
        widths = [max(map(width, column)) for column in zip(*cells, strict=True)]
        for number, row in enumerate(cells):
            text = "  ".join(
                _padded(it, size, right=i in right)
                for i, (it, size) in enumerate(zip(row, widths, strict=True))
            )
            self.line(text if number else (text.rstrip(), _DIM))

    def _printable(self, text: str) -> str:
        return printable(text, self._out.encoding or "utf-8")

    def _painted(self, text: str, hue: str) -> str:
        shown = self._printable(text)
        return f"{hue}{shown}{_RESET}" if self._colour else shown


def _padded(text: str, size: int, *, right: bool) -> str:
    space = " " * (size - width(text))
    return space + text if right else text + space
