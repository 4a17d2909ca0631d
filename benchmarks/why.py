"""`policygen why`: one pending workload of a cluster with 5,000 nodes and 50,000 pods.

    python benchmarks/why.py [--nodes 5000] [--pods 50000] [--policy 2000] [--runs 3]

Makes a snapshot in which each Job has a Workload that holds its quota, and one more Job waits in a full queue. Starts
processes that read it and explain the waiting Job, one after the other. Prints the time of each step, all processor time, and the peak memory.

With --kueue, the scheduler of Kueue in process gets the same queues and Workloads once, and decides about them. Prints its time beside
that of `why`, which tries many changes, and the ratios.
"""

import gc
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
from child_runs import child_runs
from clusters import CARDS, KUEUE, PODS_PER_OWNER, job, made, node, pod, pod_spec, policy

from policygen.client import pod_lists, snapshot_file
from policygen.core.finding import At
from policygen.core.versions import DEFAULT
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue_settings import first
from policygen.kubernetes.object import Object
from policygen.kubernetes.snapshot import Seen, Snapshot
from policygen.lint.kinds import every
from policygen.report import why
from policygen.report.tables import TablePage
from policygen.simulate.scene import Scene
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.scene_pools import cluster_nodes
from policygen.simulate.why.explainer import Explainer

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # Kueue in process is part of the tests

BOUND_S = 5.0
TIME = "2026-11-20T08:00:00Z"
TARGET = "team-0/waiting"


def workload(index: int, teams: int) -> Any:
    """The Workload of a Job, which holds its quota."""
    team = index % teams
    amounts = pod_spec(team)["containers"][0]["resources"]["requests"]
    assignment = {
        "name": "main",
        "count": PODS_PER_OWNER,
        "flavors": dict.fromkeys(amounts, CARDS[team % len(CARDS)]),
        "resourceUsage": {it: _times(amount) for it, amount in amounts.items()},
    }
    it = made(KUEUE, "Workload", f"job-job-{index}", f"team-{team}")
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": f"job-{index}", "uid": "a"}
    it["metadata"] |= {
        "creationTimestamp": TIME,
        "ownerReferences": [{**owner, "controller": True}],
    }
    it["spec"] = {"queueName": "queue-0", "podSets": [{"name": "main", "count": PODS_PER_OWNER}]}
    reserved = {"status": "True", "reason": "QuotaReserved", "lastTransitionTime": TIME}
    it["status"] = {
        "admission": {"clusterQueue": f"team-{team}", "podSetAssignments": [assignment]},
        "conditions": [{"type": kind, **reserved} for kind in ("QuotaReserved", "Admitted")],
    }
    return it


def _times(amount: Any) -> str:
    number, unit = str(amount), ""
    if number.endswith("Gi"):
        number, unit = number[:-2], "Gi"
    return f"{int(number) * PODS_PER_OWNER}{unit}"


def waiting(teams: int) -> Iterator[Any]:
    """A Job that asks for more than its queue has free, with its Workload."""
    it = job(0, teams)
    it["metadata"] |= {"name": "waiting", "uid": "waiting", "creationTimestamp": TIME}
    it["spec"]["parallelism"] = 400
    yield it
    owned = workload(0, teams)
    owned["metadata"]["name"] = "job-waiting"
    owned["metadata"]["ownerReferences"][0]["name"] = "waiting"
    owned["spec"]["podSets"][0]["count"] = 400
    owned["status"] = {"conditions": []}
    yield owned


def write(path: Path, nodes: int, pods: int, count: int) -> None:
    """A snapshot as `policygen snapshot` writes it of such a cluster."""
    objects = [*policy(count), *(node(index) for index in range(nodes))]
    teams = sum(each["kind"] == "Namespace" for each in objects)
    owners = range(-(-pods // PODS_PER_OWNER))
    objects += [job(index, teams) for index in owners]
    objects += [workload(index, teams) for index in owners]
    objects += waiting(teams)
    rows = pod_lists.Pods()
    listed = (pod(index, nodes, teams) for index in range(pods))
    taken = Snapshot(
        Seen("bench", snapshot_file.now(), "v1.36.3", read=every()),
        tuple(Object.read(each, At(0, ("objects", i))) for i, each in enumerate(objects)),
        tuple(rows.row(msgspec.convert(each, pod_lists.ListedPod)) for each in listed),
    )
    snapshot_file.write(taken, path)


def child(path: Path) -> None:
    """Read a snapshot and explain the waiting workload, as the command does. Print the time of each step."""
    gc.disable()  # as policygen/__main__.py does
    times, start = [time.perf_counter()], time.process_time()
    with path.open("rb") as file:
        taken = snapshot_file.read(file)
    cluster = Cluster(taken.objects, seen=taken.seen, pods=taken.pods)
    times.append(time.perf_counter())
    scene = Scene(cluster, first(cluster, DEFAULT["kueue"]), cluster_nodes(cluster))
    explainer = Explainer(scene, arrivals(scene))
    times.append(time.perf_counter())
    (one,) = explainer.named(TARGET)
    found = explainer.explain(one)
    times.append(time.perf_counter())
    out = StringIO()
    why.text(why.WhyReport((found,)), TablePage(out))
    steps = ("read", "jobs", "explain")
    pairs = pairwise(times)
    report = {
        **dict(zip(steps, (b - a for a, b in pairs), strict=True)),
        "all": times[-1] - times[0],
        "cpu": time.process_time() - start,
        "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "cause": found.cause.kind.value,
        "remedies": len(found.remedies),
        "tried": found.tried,
        "text": out.getvalue(),
    }
    print(json.dumps(report))


def scenario(pods: int, count: int) -> Any:
    """The same queues and Workloads for Kueue in process, with the fields that the API server sets."""
    kinds: dict[str, list[Any]] = {}
    for it in policy(count):
        kinds.setdefault(it["kind"], []).append(it)
    fungibility = {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"}
    for it in kinds["ClusterQueue"]:
        it["spec"] |= {"queueingStrategy": "BestEffortFIFO", "stopPolicy": "None"}
        it["spec"] |= {"flavorFungibility": fungibility}
        it["spec"]["preemption"]["borrowWithinCohort"] = {"policy": "Never"}
    for it in kinds["LocalQueue"]:
        it["spec"]["stopPolicy"] = "None"
    teams = len(kinds["Namespace"])
    held = [
        _as_created(workload(i, teams), i, i % teams) for i in range(-(-pods // PODS_PER_OWNER))
    ]
    target = _as_created(list(waiting(teams))[1], len(held), 0)
    return {
        "flavors": kinds["ResourceFlavor"],
        "cohorts": kinds["Cohort"],
        "clusterQueues": kinds["ClusterQueue"],
        "localQueues": kinds["LocalQueue"],
        "namespaces": kinds["Namespace"],
        "maxCycles": 1_000_000,
        "steps": [
            {"at": 100, "create": held, "finish": []},
            {"at": 200, "create": [target], "finish": []},
        ],
    }


def _as_created(it: Any, number: int, team: int) -> Any:
    """A Workload before Kueue has decided about it."""
    it["metadata"] |= {"uid": f"u{number:06d}", "creationTimestamp": TIME}
    it["spec"] |= {"priority": 0, "active": True}
    it["spec"]["podSets"][0]["template"] = {"spec": pod_spec(team)}
    del it["status"]
    return it


def kueue_seconds(pods: int, count: int) -> float:
    """How long Kueue in process takes for all decisions, without reading the input."""
    from tests.servers.kueue_scheduler import program  # noqa: PLC0415 - only with --kueue

    whole = scenario(pods, count)
    nothing = {**whole, "steps": []}
    times = []
    for it in (nothing, whole):
        start = time.perf_counter()
        subprocess.run(
            [program()], input=json.dumps(it), capture_output=True, text=True, check=True
        )
        times.append(time.perf_counter() - start)
    return times[1] - times[0]


def main() -> None:
    """Make the snapshot, and explain the workload in processes of their own."""
    beside = "--kueue" in sys.argv
    sys.argv = [it for it in sys.argv if it != "--kueue"]
    runs = child_runs(__file__, __doc__ or "", write, child, runs=3)
    print(runs[0]["text"])
    print(f"cause {runs[0]['cause']}, {runs[0]['remedies']} remedies")
    for step in ("read", "jobs", "explain", "all", "cpu"):
        bound = f"; wanted at most {BOUND_S:g} s" if step == "all" else ""
        print(f"{step:8} {statistics.median(run[step] for run in runs):6.2f} s{bound}")
    print(f"peak     {max(run['mib'] for run in runs):6.0f} MiB")
    if beside:
        kueue = kueue_seconds(50_000, 2_000)
        print(f"Kueue in process, which decides about all workloads once: {kueue:.2f} s")
        for step in ("all", "explain"):
            ratio = statistics.median(run[step] for run in runs) / kueue
            print(
                f"{step} of why, with {runs[0]['tried']} changes tried, is {ratio:.2f} times that"
            )


if __name__ == "__main__":
    main()
