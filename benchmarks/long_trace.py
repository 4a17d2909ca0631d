"""A long random trace of 15 teams in two pools with 1,440 GPUs: time by phase, memory, and growth.

    python benchmarks/long_trace.py [--jobs 25000 50000 100000] [--load 0.8] [--templates 30] [--seed 1]

Each team has jobs of `--templates` templates, which differ in pods, GPUs, cpu, memory and priority; arrivals are a
Poisson process, and durations have a log-normal distribution from half a minute to a week. With a load
above 1, more GPU hours are submitted than the nodes have, so the queue grows until the last job is submitted.
Goal: a million jobs end with a report, and the time grows with the jobs to a power of at most 1.1.
"""

import argparse
import gc
import io
import json
import math
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from policygen.app.requests import SimulateRequest
from policygen.app.simulate import simulate
from policygen.report import simulation
from policygen.report.tables import TablePage

TEAMS = 15
NODES = {"a100": 150, "l4": 60}
PER_NODE = {"a100": 8, "l4": 4}
TYPES = {"a100": "a2-ultragpu-8g", "l4": "g2-standard-48"}
PRODUCTS = {"a100": "NVIDIA-A100-SXM4-80GB", "l4": "NVIDIA-L4"}
LABEL = "cloud.google.com/gke-accelerator"
WEEK_S = 7 * 86_400
SHARES = [1 / (i + 1.5) for i in range(TEAMS)]
"""Of the GPUs and jobs of each team."""
HEADER = "time,duration,team,pods,gpus,cpu,memory,priority,selector\n"


def spec() -> Iterator[str]:
    """The documents: guarantees are in proportion to the jobs of a team, and teams borrow from each other."""
    yield """\
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata: {name: long}
spec:
  target: {kubernetes: "1.36", kueue: "0.19"}
  priorities:
    - {name: urgent, value: 1000}
    - {name: normal, value: 500}
    - {name: background, value: 100, preempts: false}
"""
    for pool, nodes in NODES.items():
        yield f"""\
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {{name: {pool}}}
spec:
  nodeSelector: {{{LABEL}: {pool}}}
  gpu: {{product: {PRODUCTS[pool]}, perNode: {PER_NODE[pool]}}}
  capacity: {{nodes: {nodes}, nodeType: {TYPES[pool]}}}
  scheduler: kueue
"""
    for i, share in enumerate(SHARES):
        part = 0.95 * share / sum(SHARES)
        quotas = "".join(
            f"    - {{pool: {pool}, guarantee: {int(part * nodes * PER_NODE[pool])}}}\n"
            for pool, nodes in NODES.items()
        )
        yield f"""\
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {{name: team-{i:02}}}
spec:
  namespaces: [{{name: team-{i:02}}}]
  quotas:
{quotas}"""


def template(chance: random.Random) -> tuple[int, str]:
    """The GPUs of a job, and its cells behind the team."""
    gpus = chance.choices((1, 2, 4, 8), (70, 10, 12, 8))[0]
    pods = chance.choices((1, 2, 4, 8), (90, 5, 3, 2))[0]
    pool = "l4" if gpus <= 4 and chance.random() < 0.25 else "a100"
    cpu, memory = chance.choice((2, 4, 6, 8, 10)) * gpus, chance.choice((8, 16, 24, 32, 40)) * gpus
    priority = chance.choices(("normal", "urgent", "background", ""), (60, 10, 20, 10))[0]
    return gpus * pods, f"{pods},{gpus},{cpu},{memory}Gi,{priority},{LABEL}={pool}"


def write_trace(path: Path, jobs: int, load: float, templates: int, seed: int) -> None:
    """Write the rows of a drawn trace."""
    chance = random.Random(seed)
    of_team = [[template(chance) for _ in range(templates)] for _ in range(TEAMS)]
    drawn = []
    for _ in range(jobs):
        team = chance.choices(range(TEAMS), SHARES)[0]
        duration = min(max(30, round(chance.lognormvariate(6.8, 1.7))), WEEK_S)
        drawn.append((team, duration, *chance.choice(of_team[team])))
    total = sum(duration * gpus for _, duration, gpus, _ in drawn)
    gap = total / sum(NODES[it] * PER_NODE[it] for it in NODES) / load / jobs
    now = 0.0
    with path.open("w", encoding="utf-8") as out:
        out.write(HEADER)
        for team, duration, _, cells in drawn:
            now += chance.expovariate(1 / gap)
            out.write(f"{now:.0f},{duration},team-{team:02},{cells}\n")


def child(folder: Path) -> None:
    """Simulate the trace of a folder, and print what it took as JSON."""
    gc.disable()  # as policygen does
    began = time.process_time()
    request = SimulateRequest(
        specs=(str(folder / "spec.yaml"),), trace=folder / "jobs.csv", duration=3600.0
    )
    phases: dict[str, float] = {}

    def progress(words: str) -> None:
        phases.setdefault(words.partition(":")[0].partition(";")[0], time.process_time() - began)

    report = simulate(request, progress=progress)
    simulated = time.process_time() - began
    partial(simulation.write, every=False)(report, TablePage(io.StringIO()))
    waited = [it.waited for it in report.result.jobs]
    print(
        json.dumps(
            {
                "jobs": len(waited),
                "began": phases.get("simulating", 0.0),
                "ended": phases.get("the simulation ended", simulated),
                "seconds": time.process_time() - began,
                "waited": sum(it > 0 for it in waited),
                "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
            }
        )
    )


def run(jobs: int, given: argparse.Namespace) -> dict[str, Any]:
    """What a simulation in a new process took."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "spec.yaml").write_text("---\n".join(spec()), "utf-8")
        write_trace(folder / "jobs.csv", jobs, given.load, given.templates, given.seed)
        command = [sys.executable, __file__, "--child", name]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    """Run all sizes, and print a line for each."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--jobs", type=int, nargs="+", default=[25_000, 50_000, 100_000])
    arguments.add_argument("--load", type=float, default=0.8)
    arguments.add_argument("--templates", type=int, default=30)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.child:
        child(given.child)
        return
    before: dict[str, Any] | None = None
    for jobs in given.jobs:
        found = run(jobs, given)
        growth = ""
        if before is not None:
            power = math.log(found["seconds"] / before["seconds"]) / math.log(
                found["jobs"] / before["jobs"]
            )
            growth = f", grows with the jobs to the power of {power:.2f}"
        print(
            f"{found['jobs']:,} jobs, of which {found['waited']:,} wait: {found['seconds']:.1f} s of the "
            f"processor ({found['began']:.1f} s until the simulation, {found['ended']:.1f} s until its end), "
            f"{1000 * found['seconds'] / found['jobs']:.2f} ms for each, {found['mib']:,} MiB{growth}",
            flush=True,
        )
        before = found


if __name__ == "__main__":
    main()
