"""A simulation as JSON, for programs: versioned, described by schemas/simulation.schema.json."""

from math import isfinite
from typing import Any, TextIO

from policygen.report.cause_words import brief
from policygen.report.phrases import write_json
from policygen.report.simulation import SimulationReport
from policygen.report.simulation_changes import consequences
from policygen.simulate.comparison import Comparison, TeamChange
from policygen.simulate.model_results import model_changes, model_results
from policygen.simulate.result import JobResult, PoolResult, TeamResult, TeamUse
from policygen.simulate.state_facts import state_changes

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
        "changes": [
            {
                "object": it.subject,
                "field": it.field or None,
                "before": it.before or None,
                "after": it.after or None,
            }
            for it in state_changes(before.facts, after.facts)
        ],
        "consequences": list(consequences(compared)),
        "teams": [
            {"team": it.name, "renamed": it.renamed or None, **_change(it)} for it in compared.teams
        ],
        "total": _change(compared.total),
        "models": [
            {
                "model": it.name,
                "podsBefore": it.pods[0],
                "podsAfter": it.pods[1],
                "podsRunBefore": it.run[0],
                "podsRunAfter": it.run[1],
                "gpusBefore": it.gpus[0],
                "gpusAfter": it.gpus[1],
            }
            for it in model_changes(before.result, after.result)
            if it.differs
        ],
        "jobs": [
            {
                "job": it.after.name,
                "kind": it.after.kind,
                "waited": it.waited,
                "preempted": it.preempted,
                "starts": it.starts,
                "either": it.either,
            }
            for it in compared.jobs
            if it.differs
        ],
    }
    write_json(data, out)


def _change(it: TeamChange) -> dict[str, Any]:
    """What changes for a team, or for all together."""
    return {
        "waitingMean": it.waited,
        "waitingMedian": _finite(it.after.waiting_median - it.before.waiting_median),
        "waiting95": _finite(it.after.waiting_p95 - it.before.waiting_p95),
        "preempted": it.preempted,
        "usefulGpuSeconds": it.useful,
        "lostGpuSeconds": it.lost,
    }


def _simulation(report: SimulationReport) -> dict[str, Any]:
    result = report.result
    return {
        "until": result.until,
        "seed": report.seed,
        "partial": result.partial,
        "jobs": [_job(it) for it in result.jobs],
        "models": [
            {"model": it.name, "team": it.team, "pods": it.pods, "podsRun": it.run, "gpus": it.gpus}
            for it in model_results(result.jobs)
        ],
        "teams": [_team(it) for it in result.teams],
        "groups": [
            {"group": name, "pools": [_use(it) for it in uses]}
            for name, uses in result.groups.items()
        ],
        "pools": [_pool(it) for it in result.pools],
        "later": list(result.later),
        "livelocks": [list(it) for it in result.livelocks],
        "starving": [
            {"job": it.name, "later": it.later, "starts": it.starts, "ends": it.ends}
            for it in result.starving
        ],
        "unread": list(report.unread),
        "unmodelled": [{"feature": it.feature, "jobs": it.workloads} for it in result.unmodelled],
        "notes": [it for it in (report.interrupted, report.lent, *report.notes) if it],
    }


def _job(job: JobResult) -> dict[str, Any]:
    return {
        "job": job.name,
        "kind": job.kind,
        "team": job.team,
        "model": job.model or None,
        "queue": job.queue or None,
        "gpus": job.gpus,
        "pods": job.pods,
        "podsRefused": job.refused,
        "podStarts": [{"at": at, "pods": count} for at, count in job.pod_starts],
        "submitted": job.submitted,
        "duration": job.duration,
        "admitted": job.admitted,
        "started": job.started,
        "ended": job.ended,
        "waited": job.waited,
        "ran": job.ran,
        "lost": job.lost,
        "gpuSeconds": job.gpu_seconds,
        "lostGpuSeconds": job.lost_gpu_seconds,
        "state": job.state.value,
        "flavors": list(job.flavors),
        "borrowed": dict(job.borrowed),
        "nodes": dict(job.nodes),
        "domains": dict(job.domains),
        "preempted": job.preempted,
        "evicted": job.evicted,
        "preemptedBy": list(job.preempted_by),
        "preemptions": [{"at": it.at, "by": it.by, "rule": it.rule} for it in job.preemptions],
        "preempts": list(job.preempts),
        "why": brief(job) or None,
        "cause": None if job.cause is None else job.cause.kind.value,
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
        "neverStart": team.never,
        "waitingMedian": _finite(team.waiting_median),
        "waiting95": _finite(team.waiting_p95),
        "preempted": team.preempted,
        "gpuSeconds": team.gpu_seconds,
        "lostGpuSeconds": team.lost_gpu_seconds,
        "pools": [_use(it) for it in team.uses],
    }


def _use(it: TeamUse) -> dict[str, Any]:
    return {
        "pool": it.pool,
        "resource": it.resource,
        "guarantee": it.guarantee,
        "limit": it.limit,
        "gpuSeconds": it.gpu_seconds,
        "mostUsed": it.most,
    }


def _pool(pool: PoolResult) -> dict[str, Any]:
    return {
        "pool": pool.name,
        "gpus": pool.gpus,
        "jobs": pool.jobs,
        "waitingMedian": _finite(pool.waiting_median),
        "waiting95": _finite(pool.waiting_p95),
        "meanUsed": pool.used_mean,
        "mostUsed": pool.used_most,
        "mostNodes": pool.most_nodes,
        "stranded": dict(pool.stranded),
    }


def _finite(seconds: float) -> float | None:
    """The seconds; None if they are infinite, because too many jobs never start."""
    return seconds if isfinite(seconds) else None
