"""Results of simulations for tests."""

from policygen.simulate.result import (
    JobPreemption,
    JobResult,
    PoolResult,
    SimulationResult,
    TeamResult,
    TeamUse,
)
from policygen.simulate.why.causes import Cause, CauseKind


def job(name="n/a", **more):
    """A job of 8 GPUs that ran for an hour at once."""
    fields = {
        "kind": "Job",
        "team": "n",
        "queue": "q",
        "submitted": 0.0,
        "duration": 3600.0,
        "gpus": 8,
        "admitted": 0.0,
        "started": 0.0,
        "ended": 3600.0,
        "waited": 0.0,
        "ran": 3600.0,
        "running": False,
    }
    return JobResult(name=name, **{**fields, **more})


def waiting(name="n/w", **more):
    """A job that never started."""
    never = {"admitted": None, "started": None, "ended": None, "waited": 3600.0, "ran": 0.0}
    found = {**never, "reason": "Pending", "message": "no quota", "cause": CAUSE}
    return job(name, **{**found, **more})


CAUSE = Cause(CauseKind.DEACTIVATED, "Workload n/w")


def preempted_by(*names, rule="InClusterQueue"):
    """Preemptions by these jobs, one each minute."""
    return tuple(JobPreemption(60.0 * i, it, rule) for i, it in enumerate(names))


def team(name="n", **more):
    fields = {
        "jobs": 1,
        "started": 1,
        "finished": 1,
        "waiting_median": 0.0,
        "waiting_p95": 0.0,
        "preempted": 0,
        "gpu_seconds": 28800.0,
        "lost_gpu_seconds": 0.0,
        "uses": (TeamUse("a100", 8, 16, 28800.0, 8),),
    }
    return TeamResult(name=name, **{**fields, **more})


def result(*jobs, teams=(), **more):
    pools = (PoolResult("a100", 16, 1, 0.0, 0.0, 8.0, 8, {"quota": 7200.0}),)
    fields = {"jobs": jobs, "teams": teams or (team(),), "pools": pools, "until": 3600.0}
    return SimulationResult(**{**fields, **more})
