"""`policygen lint --snapshot`: a cluster of 5,000 nodes, 50,000 pods and 2,000 policy objects.

    python benchmarks/lint_snapshot.py [--nodes 5000] [--pods 50000] [--policy 2000] [--runs 5]

Makes the snapshot as `policygen snapshot` would of what a server lists, then starts processes that
read it and judge it, one after the other. Prints the time of both, and the peak memory.
"""

import gc
import json
import resource
import statistics
import sys
import time
from pathlib import Path

import msgspec
from child_runs import child_runs
from clusters import PODS_PER_OWNER, job, node, pod, policy

from policygen.app import judge
from policygen.client import pod_lists, snapshot_file
from policygen.core import versions
from policygen.core.finding import At
from policygen.kubernetes.object import Object
from policygen.kubernetes.snapshot import Seen, Snapshot
from policygen.lint import registry
from policygen.lint.kinds import every

BOUND_S, BOUND_MIB = 3.0, 400.0


def write(path: Path, nodes: int, pods: int, count: int) -> None:
    """A snapshot as `policygen snapshot` writes it of such a cluster."""
    objects = [*policy(count), *(node(index) for index in range(nodes))]
    teams = sum(each["kind"] == "Namespace" for each in objects)
    objects += [job(index, teams) for index in range(-(-pods // PODS_PER_OWNER))]
    rows = pod_lists.Pods()
    listed = (pod(index, nodes, teams) for index in range(pods))
    looked = Snapshot(
        Seen("bench", snapshot_file.now(), "v1.36.3", read=every()),
        tuple(Object.read(each, At(0, ("objects", i))) for i, each in enumerate(objects)),
        tuple(rows.row(msgspec.convert(each, pod_lists.ListedPod)) for each in listed),
    )
    snapshot_file.write(looked, path)


def child(path: Path) -> None:
    """Read and check a snapshot, as the command does, and print the time of each step."""
    gc.disable()  # as policygen/__main__.py does
    start = time.perf_counter(), time.process_time()
    with path.open("rb") as file:
        looked = snapshot_file.read(file)
    read = time.perf_counter(), time.process_time()
    judged = judge.judge(looked, registry.RULES, judge.CheckSettings(versions.DEFAULT, {}))
    done = time.perf_counter(), time.process_time()
    said = {
        "read": [b - a for a, b in zip(start, read, strict=True)],
        "judge": [b - a for a, b in zip(read, done, strict=True)],
        "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "objects": judged.objects,
        "findings": len(judged.findings),
        "crashed": [it.reason for it in judged.outcomes if it.verdict == "crashed"],
    }
    print(json.dumps(said))


def main() -> None:
    """Make the snapshot, and judge it in processes of their own."""
    runs = child_runs(__file__, __doc__ or "", write, child, runs=5)
    for crash in runs[0]["crashed"]:
        sys.exit(crash)
    print(f"{runs[0]['objects']} objects, {runs[0]['findings']} findings")
    for what in ("read", "judge"):
        wall, cpu = (statistics.median(run[what][clock] for run in runs) for clock in (0, 1))
        bound = f"; wanted at most {BOUND_S:g} s" if what == "judge" else ""
        print(f"{what:6} {wall:6.2f} s wall  {cpu:6.2f} s cpu{bound}")
    print(f"peak   {max(run['mib'] for run in runs):6.0f} MiB; wanted at most {BOUND_MIB:g} MiB")


if __name__ == "__main__":
    main()
