"""The Philly trace under two sets of quotas: each team alone, and all teams in one cohort that borrow.

    python benchmarks/philly.py FILE [--gpus 1200] [--search]

Quotas are in proportion to the GPU hours of the teams, at least 8. Prints waiting times, processor seconds,
memory, the growth with the number of jobs, and how many GPUs are needed: the 99th percentile of the demand
if every job started at once, and with --search the fewest GPUs with which 95 % of jobs wait at most a minute.
Pods start when their job is admitted. Goal: 60 s and 1 GB for both.
"""

import argparse
import gc
import math
import resource
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from policygen.app.trace import read
from policygen.core.finding import At
from policygen.core.names import GPU
from policygen.core.versions import DEFAULT
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue_settings import first
from policygen.kubernetes.object import Object
from policygen.simulate.scene import Scene
from policygen.simulate.scene_schedulers import timeline
from policygen.simulate.timeline import Timeline
from policygen.simulate.traces.arrivals import arrivals
from policygen.simulate.traces.job import TraceJob

PATIENCE_S = 60.0
"""The wait that --search allows."""
WINDOW = (27 * 86400, 102 * 86400)
"""1 October to 15 December, the part of the trace in which all clusters run."""


def gpus_of(job: TraceJob) -> int:
    """The GPUs of all pods of a job."""
    return job.request.pods * job.request.gpus


def quotas(jobs: Iterable[TraceJob], gpus: int) -> Mapping[str, int]:
    """The quota of each team."""
    hours: dict[str, float] = defaultdict(float)
    for it in jobs:
        hours[it.team] += (it.duration or 0.0) * gpus_of(it)
    total = sum(hours.values())
    return {team: max(8, round(gpus * each / total)) for team, each in sorted(hours.items())}


def objects(team_quotas: Mapping[str, int], *, pooled: bool) -> Iterator[dict[str, Any]]:
    """Kueue's objects."""
    api = "kueue.x-k8s.io/v1beta2"
    yield {"apiVersion": api, "kind": "ResourceFlavor", "metadata": {"name": "gpus"}, "spec": {}}
    for team, quota in team_quotas.items():
        resources = [{"name": GPU, "nominalQuota": quota}]
        groups = [
            {"coveredResources": [GPU], "flavors": [{"name": "gpus", "resources": resources}]}
        ]
        spec: dict[str, Any] = {"namespaceSelector": {}, "resourceGroups": groups}
        if pooled:
            spec |= {"cohortName": "all", "preemption": {"reclaimWithinCohort": "Any"}}
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": team}}
        yield {"apiVersion": api, "kind": "ClusterQueue", "metadata": {"name": team}, "spec": spec}
        yield {
            "apiVersion": api,
            "kind": "LocalQueue",
            "metadata": {"name": "main", "namespace": team},
            "spec": {"clusterQueue": team},
        }


def run(
    jobs: Sequence[TraceJob], team_quotas: Mapping[str, int], *, pooled: bool
) -> tuple[float, Timeline]:
    """Processor seconds, and what happened."""
    gc.collect()
    began = time.process_time()
    read_objects = (Object.read(it, At(0, ())) for it in objects(team_quotas, pooled=pooled))
    cluster = Cluster(it for it in read_objects if it is not None)
    scene = Scene(cluster, first(cluster, DEFAULT["kueue"]))
    made = timeline(scene, arrivals(scene, jobs).arrivals)
    for _ in made.run():
        pass
    return time.process_time() - began, made


def waits(made: Timeline) -> list[float]:
    """The waiting times of all jobs, sorted; those that never start wait for ever."""
    return sorted(math.inf if it.started is None else made.waited(it) for it in made.jobs)


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which this share of sorted values is."""
    return values[min(int(share * len(values)), len(values) - 1)]


def demand(jobs: Iterable[TraceJob]) -> float:
    """The 99th percentile of the GPUs in use if every job started at once, over the time."""
    changes: dict[float, int] = defaultdict(int)
    for it in jobs:
        changes[it.at] += gpus_of(it)
        changes[it.at + (it.duration or 0.0)] -= gpus_of(it)
    used, last = 0, 0.0
    found: dict[int, float] = defaultdict(float)
    for at in sorted(changes):
        begin, end = max(last, WINDOW[0]), min(at, WINDOW[1])
        if end > begin:
            found[used] += end - begin
        used += changes[at]
        last = at
    left = 0.99 * sum(found.values())
    for level in sorted(found):
        left -= found[level]
        if left <= 0:
            return level
    return 0


def needed(jobs: Sequence[TraceJob], *, pooled: bool, start: int) -> int:
    """The fewest GPUs with which 95 % of the jobs wait at most a minute, within 5 %."""

    def suffices(gpus: int) -> bool:
        _, made = run(jobs, quotas(jobs, gpus), pooled=pooled)
        return quantile(waits(made), 0.95) <= PATIENCE_S

    low, high = start // 8, start
    while not suffices(high):
        low, high = high, high * 2
    while high - low > high * 0.05:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return sum(quotas(jobs, high).values())


def main() -> None:
    """Run both, and print a table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("file", type=Path)
    arguments.add_argument("--gpus", type=int, default=1200)
    arguments.add_argument("--search", action="store_true")
    given = arguments.parse_args()
    began = time.process_time()
    jobs = read(given.file, None, lambda _: None)
    teams: dict[str, list[TraceJob]] = defaultdict(list)
    for it in jobs:
        teams[it.team].append(it)
    print(f"{len(jobs)} jobs of {len(teams)} teams: read in {time.process_time() - began:.1f} s")
    team_quotas = quotas(jobs, given.gpus)
    total = 0.0
    alone = sum(map(demand, teams.values()))
    for name, pooled, most in (("alone", False, alone), ("pooled", True, demand(jobs))):
        seconds, made = run(jobs, team_quotas, pooled=pooled)
        total += seconds
        found = waits(made)
        print(
            f"{name:6}: {sum(team_quotas.values())} GPUs, waiting: median {median(found):,.0f} s, "
            f"95 % {quantile(found, 0.95):,.0f} s, 99 % {quantile(found, 0.99):,.0f} s; "
            f"{sum(it.started is None for it in made.jobs)} jobs never start, "
            f"{sum(it.preempted for it in made.jobs)} preemptions; 99th percentile of demand "
            f"{most:,.0f} GPUs; {made.cycles} cycles, {seconds:.1f} s",
            flush=True,
        )
        half, _ = run(jobs[: len(jobs) // 2], team_quotas, pooled=pooled)
        print(f"{name:6}: time grows with the jobs to the power of {math.log2(seconds / half):.2f}")
        if given.search:
            gpus = needed(jobs, pooled=pooled, start=given.gpus)
            print(f"{name:6}: {gpus} GPUs, so that 95 % of jobs wait at most {PATIENCE_S:.0f} s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"both: {total:.1f} s of 60 s, {peak} of 1,024 MiB")


if __name__ == "__main__":
    main()
