"""A simulation as JSON, for programs: versioned, described by schemas/simulation.schema.json."""

from typing import Any, TextIO

from policygen.report.phrases import write_json
from policygen.report.simulation import SimulationReport, consequences
from policygen.simulate.comparison import Comparison
from policygen.simulate.plain_words import plain
from policygen.simulate.result import JobResult, PoolResult, TeamResult

VERSION = 1
"""Increased when a field changes its meaning or is removed, not for a new field."""


def write(report: SimulationReport, out: TextIO) -> None:
    """Write one JSON object and a newline. Times are seconds, and amounts GPUs."""
    write_json({"version": VERSION, **_simulation(report)}, out)


def write_comparison(reports: tuple[SimulationReport, SimulationReport], out: TextIO) -> None:
    """Write both simulations, and what differs."""
    before, after = reports
    compared = Comparison(before.result, after.result)
    data = {
        "version": VERSION,
        "before": _simulation(before),
        "after": _simulation(after),
        "consequences": list(consequences(compared)),
        "teams": [
            {
                "team": it.name,
                "waitingMedian": it.after.waiting_median - it.before.waiting_median,
                "waiting95": it.after.waiting_p95 - it.before.waiting_p95,
                "preempted": it.after.preempted - it.before.preempted,
                "usefulGpuSeconds": it.useful,
                "lostGpuSeconds": it.lost,
            }
            for it in compared.teams
        ],
        "jobs": [
            {
                "job": it.after.name,
                "kind": it.after.kind,
                "waited": it.waited,
                "preempted": it.preempted,
                "starts": it.starts,
            }
            for it in compared.jobs
            if it.differs
        ],
    }
    write_json(data, out)


def _simulation(report: SimulationReport) -> dict[str, Any]:
    result = report.result
    return {
        "until": result.until,
        "seed": report.seed,
        "partial": result.partial,
        "jobs": [_job(it) for it in result.jobs],
        "teams": [_team(it) for it in result.teams],
        "pools": [_pool(it) for it in result.pools],
        "livelocks": [list(it) for it in result.livelocks],
        "unmodelled": [{"feature": it.feature, "jobs": it.workloads} for it in result.unmodelled],
        "notes": list(report.notes),
    }


def _job(job: JobResult) -> dict[str, Any]:
    waits = job.ended is None and not job.running
    return {
        "job": job.name,
        "kind": job.kind,
        "team": job.team,
        "queue": job.queue or None,
        "gpus": job.gpus,
        "submitted": job.submitted,
        "duration": job.duration,
        "admitted": job.admitted,
        "started": job.started,
        "ended": job.ended,
        "waited": job.waited,
        "ran": job.ran,
        "lost": job.lost,
        "state": "ended" if job.ended is not None else "waiting" if waits else "running",
        "flavors": list(job.flavors),
        "borrowed": dict(job.borrowed),
        "nodes": dict(job.nodes),
        "preempted": job.preempted,
        "evicted": job.evicted,
        "preemptedBy": list(job.preempted_by),
        "preempts": list(job.preempts),
        "why": plain(job) or None,
        "reason": job.reason or None,
        "message": job.message or None,
        "either": job.either,
    }


def _team(team: TeamResult) -> dict[str, Any]:
    return {
        "team": team.name,
        "jobs": team.jobs,
        "started": team.started,
        "ended": team.finished,
        "waitingMedian": team.waiting_median,
        "waiting95": team.waiting_p95,
        "preempted": team.preempted,
        "gpuSeconds": team.gpu_seconds,
        "lostGpuSeconds": team.lost_gpu_seconds,
        "pools": [
            {
                "pool": it.pool,
                "guarantee": it.guarantee,
                "limit": it.limit,
                "gpuSeconds": it.gpu_seconds,
                "mostUsed": it.most,
            }
            for it in team.uses
        ],
    }


def _pool(pool: PoolResult) -> dict[str, Any]:
    return {
        "pool": pool.name,
        "gpus": pool.gpus,
        "jobs": pool.jobs,
        "waitingMedian": pool.waiting_median,
        "waiting95": pool.waiting_p95,
        "meanUsed": pool.used_mean,
        "mostUsed": pool.used_most,
        "stranded": dict(pool.stranded),
    }
