"""The jobs, teams or pools of a simulation as CSV, one line each, for spreadsheets."""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isfinite
from typing import Any, TextIO

from policygen.report.cause_words import brief
from policygen.report.simulation import NEVER, SimulationReport
from policygen.report.text import printable
from policygen.simulate.comparison import Comparison
from policygen.simulate.result import JobResult, SimulationResult, TeamResult

_NAMES = ("before", "after")
_FORMULA = ("=", "+", "-", "@")
"""With these, a cell begins that spreadsheets evaluate."""
_COLUMNS = (
    "job", "kind", "team", "queue", "gpus", "submitted", "duration", "admitted", "started", "ended",
    "waited", "ran", "lost", "state", "flavors", "borrowed", "nodes", "preempted", "preempted_by",
    "preempts", "either", "why", "message", "evicted", "cause", "pods", "pods_run",
    "pods_refused", "pod_starts", "gpu_seconds", "lost_gpu_seconds", "model", "partial",
)  # fmt: skip


def write(report: SimulationReport, out: TextIO) -> None:
    """Write a line for each job. Times are seconds; names in a cell are separated by blanks.

    The last cell of each line is `yes` if the simulation was interrupted.
    """
    partial = "yes" if report.result.partial else "no"
    _write(out, _COLUMNS, ((*_row(it), partial) for it in report.result.jobs))


def write_comparison(reports: tuple[SimulationReport, SimulationReport], out: TextIO) -> None:
    """Write a line for each job of both simulations."""
    compared = Comparison(*(it.result for it in reports))
    columns = (
        "job", "kind", "team", "gpus", "waited_before", "waited_after", "preempted_before",
        "preempted_after", "started_before", "started_after", "ended_before", "ended_after",
        "state_before", "state_after", "either_before", "either_after",
    )  # fmt: skip
    rows = (
        (
            it.after.name,
            it.after.kind,
            it.after.team,
            it.after.gpus,
            _number(it.before.waited),
            _number(it.after.waited),
            it.before.preempted,
            it.after.preempted,
            _number(it.before.started),
            _number(it.after.started),
            _number(it.before.ended),
            _number(it.after.ended),
            it.before.state.value,
            it.after.state.value,
            "yes" if it.before.either else "no",
            "yes" if it.after.either else "no",
        )
        for it in compared.jobs
    )
    _write(out, columns, rows)


def write_teams(reports: Sequence[SimulationReport], out: TextIO) -> None:
    """Write a line for each team and each pool that it can use, of one simulation or of two.

    Of two, each has also a line for all teams together.
    """
    columns = (
        "team", "jobs", "started", "ended", "never_start", "median_wait", "p95_wait", "preempted",
        "gpu_seconds", "lost_gpu_seconds", "pool", "guarantee", "limit", "most_used",
        "held_gpu_seconds", "resource",
    )  # fmt: skip
    _write_each(reports, out, columns, _team_and_total_rows if len(reports) > 1 else _team_rows)


def write_pools(reports: Sequence[SimulationReport], out: TextIO) -> None:
    """Write a line for each pool and each cause of free GPUs."""
    columns = (
        "pool", "gpus", "jobs", "median_wait", "p95_wait", "mean_used", "most_used", "free_because",
        "free_gpu_seconds",
    )  # fmt: skip
    _write_each(reports, out, columns, _pool_rows)


def _write_each(
    reports: Sequence[SimulationReport],
    out: TextIO,
    columns: tuple[str, ...],
    rows_of: Callable[[SimulationResult], Iterator[tuple[Any, ...]]],
) -> None:
    """Write the rows of each simulation; of two, each row begins with the name of its simulation."""
    several = len(reports) > 1
    rows = (
        (*((name,) if several else ()), *row, "yes" if it.result.partial else "no")
        for name, it in zip(_NAMES, reports, strict=False)
        for row in rows_of(it.result)
    )
    _write(out, (*(("simulation",) if several else ()), *columns, "partial"), rows)


def _team_and_total_rows(result: SimulationResult) -> Iterator[tuple[Any, ...]]:
    yield from _team_rows(result)
    yield from _rows_of((result.total,))


def _team_rows(result: SimulationResult) -> Iterator[tuple[Any, ...]]:
    return _rows_of(result.teams)


def _rows_of(teams: Iterable[TeamResult]) -> Iterator[tuple[Any, ...]]:
    for it in teams:
        own = (
            it.name, it.jobs, it.started, it.finished, it.never, _wait(it.waiting_median),
            _wait(it.waiting_p95), it.preempted, _number(it.gpu_seconds),
            _number(it.lost_gpu_seconds),
        )  # fmt: skip
        for use in it.uses:
            yield (
                *own, use.pool, use.guarantee, use.limit, use.most, _number(use.gpu_seconds),
                use.resource,
            )  # fmt: skip
        if not it.uses:
            yield (*own, *("",) * 6)


def _pool_rows(result: SimulationResult) -> Iterator[tuple[Any, ...]]:
    for it in result.pools:
        own = (
            it.name, it.gpus, it.jobs, _wait(it.waiting_median), _wait(it.waiting_p95),
            _number(it.used_mean), it.used_most,
        )  # fmt: skip
        for cause, amount in it.stranded.items():
            yield (*own, cause, _number(amount))
        if not it.stranded:
            yield (*own, "", "0")


def _wait(seconds: float) -> str:
    return _number(seconds) if isfinite(seconds) else NEVER


def _write(out: TextIO, columns: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> None:
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(it) for it in row])


def _row(job: JobResult) -> tuple[Any, ...]:
    return (
        job.name,
        job.kind,
        job.team,
        job.queue,
        job.gpus,
        _number(job.submitted),
        _number(job.duration),
        _number(job.admitted),
        _number(job.started),
        _number(job.ended),
        _number(job.waited),
        _number(job.ran),
        _number(job.lost),
        job.state.value,
        " ".join(job.flavors),
        " ".join(f"{flavor}={amount}" for flavor, amount in job.borrowed.items()),
        " ".join(f"{name}={count}" for name, count in job.nodes.items()),
        job.preempted,
        " ".join(job.preempted_by),
        " ".join(job.preempts),
        "yes" if job.either else "no",
        brief(job),
        job.message,
        job.evicted,
        "" if job.cause is None else job.cause.kind.value,
        job.pods,
        job.pods_run,
        job.refused,
        " ".join(f"{_number(at)}={count}" for at, count in job.pod_starts),
        _number(job.gpu_seconds),
        _number(job.lost_gpu_seconds),
        job.model,
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.10g}"


def _cell(value: Any) -> str:
    """A cell that no spreadsheet evaluates; a number may be negative."""
    text = printable(str(value))
    evaluated = text.startswith(_FORMULA) and not _is_number(text)
    return f"'{text}" if evaluated else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
