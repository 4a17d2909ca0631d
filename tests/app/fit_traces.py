"""Drawn traces, to compare what `fit` answers at a time with what `simulate` does with the same job."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from policygen.app import simulate, why
from policygen.app.requests import SimulateRequest
from policygen.simulate.input_faults import ARRIVES_AFTER, RUNS_FOR
from policygen.simulate.why.fit import FitOutcome
from policygen.simulate.why.fit_jobs import FitRequest
from tests.servers.platform_draws import drawn
from tests.servers.rendering import json_documents
from tests.servers.workloads import Ask, job

PRIORITIES = ("low", "normal", "high")
LONG_S = 10**6
"""The new job runs on, so that it is still there when it starts late."""
SAME_S = 10.0
"""Preemptions that follow each other take some retries of Kueue, and each takes a second."""
HEADER = "name,time,duration,team,queue,pods,gpus,cpu,priority\n"


@dataclass(frozen=True)
class Compared:
    """What becomes of a new job."""

    seed: int
    asked: FitRequest
    at: int
    fit: tuple[FitOutcome, ...]
    """With other random choices, too."""
    simulated: tuple[float | None, ...]
    """Seconds until it starts, with each seed; None: it never does."""

    @property
    def agree(self) -> bool:
        """Whether `fit` names the start of the first simulation."""
        return any(_equal(it, self.simulated[0]) for it in self.fit)


def _equal(answer: FitOutcome, start: float | None) -> bool:
    own = 0.0 if answer.runs else answer.after
    if own is None or start is None:
        return own is start
    return abs(own - start) <= SAME_S


def compared(seed: int, folder: Path, seeds: Iterable[int] = (1,)) -> Compared:
    """A drawn platform with a trace, and a new job at a time between two jobs of it."""
    r = random.Random(seed)
    platform = drawn(seed)
    spec = folder / "spec.yaml"
    spec.write_text(json_documents(platform.documents), "utf-8")
    shares = [
        (it["metadata"]["name"], quota["pool"])
        for it in platform.documents
        if it["kind"] == "Team"
        for quota in it["spec"]["quotas"]
    ]
    rows = [*_rows(r, shares)]
    times = [it[0] for it in rows]
    at = r.choice(times[len(times) // 3 :]) + 7
    team, pool = r.choice(shares)
    gpus, pods = r.choice([1, 2, 4, 8]), r.choice([1, 1, 2, 4])
    priority = r.choice(PRIORITIES)
    asked = FitRequest(team, gpus, pods, pool=pool, priority=priority)
    before = [it for it in rows if it[0] <= at]
    trace = folder / "trace.csv"
    trace.write_text(HEADER + "".join(text for _, text in before), "utf-8")
    request = SimulateRequest((str(spec),), trace=trace, models=False)
    answer = why.would_fit(request, asked, at=float(at)).answer
    new = job(
        "fit",
        answer.namespace,
        Ask(gpus),
        pods=pods,
        queue=answer.queue,
        kueue_priority=priority,
    )
    new["metadata"]["annotations"] = {ARRIVES_AFTER: f"{at}s", RUNS_FOR: f"{LONG_S}s"}
    jobs = folder / "jobs.yaml"
    jobs.write_text(json_documents([new]), "utf-8")
    request = request._replace(workloads=(str(jobs),))
    starts = []
    for chance in seeds:
        result = simulate.simulate(request._replace(seed=chance)).result
        (own,) = (it for it in result.jobs if it.name.endswith("/fit"))
        starts.append(None if own.started is None else own.started - at)
    return Compared(seed, asked, at, (answer.outcome, *answer.others), tuple(starts))


def _rows(r: random.Random, shares: list[tuple[str, str]]) -> Iterator[tuple[int, str]]:
    """The jobs in the order of their times."""
    time = 0
    for i in range(r.randint(15, 40)):
        team, _ = r.choice(shares)
        gpus, pods = r.choice([1, 1, 2, 4, 8]), r.choice([1, 1, 2, 4])
        cpu = r.choice(["", str(8 * gpus)])
        lasts = r.choice([600, 1800, 3600, 5400, 14400])
        yield time, f"j{i},{time},{lasts},{team},,{pods},{gpus},{cpu},{r.choice(PRIORITIES)}\n"
        time += r.choice([0, 60, 300, 900])
