"""How many pods a second the placement engine binds, and how the time grows with the nodes.

    python benchmarks/placement.py FOLDER [--nodes 10000 --pods 100000]

FOLDER has nodes.csv and pods_default.csv of the openb trace. Prints pods per second of processor time
and memory for kube-scheduler's default scores, the same for replicas of Deployments, and MostAllocated, and the exponent of the growth of
the time per pod between clusters of the trace's size and larger ones. Whole GPUs: a share counts as one.
"""

import argparse
import gc
import math
import random
import resource
import time
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from policygen.core.names import GPU
from policygen.kubernetes.core import LabelSelector
from policygen.simulate import openb
from policygen.simulate.placement.profile import Profile, Strategy
from policygen.simulate.placement.scheduler import KubeScheduler
from policygen.simulate.placement.shape import PodShape, simple_shape

PROFILES = {
    "default": Profile(),
    "deployments": Profile(),
    "most": Profile(strategy=Strategy((("cpu", 1), ("memory", 1), (GPU, 5)), most=True)),
}
REPLICAS = 50
SHARE = 1.3
"""How many GPUs the pods request, in relation to those of the nodes."""


def shape_of(pod: openb.TracePod, known: dict[object, PodShape]) -> PodShape:
    """The shape of a pod, with a share of a GPU as a GPU."""
    key = (pod.milli_cpu, pod.memory, pod.gpus, pod.models)
    if key not in known:
        requests = {"cpu": pod.milli_cpu, "memory": pod.memory, GPU: pod.gpus}
        known[key] = simple_shape(requests, {openb.MODEL: pod.models} if pod.models else None)
    return known[key]


def drawn(pods: Sequence[openb.TracePod], count: int) -> list[PodShape]:
    """So many pods of the trace, in an order by chance."""
    known: dict[object, PodShape] = {}
    source = random.Random(42)
    return [shape_of(it, known) for it in source.choices(pods, k=count)]


def of_deployments(shapes: Sequence[PodShape]) -> list[PodShape]:
    """The same pods as replicas of Deployments, 50 each, which default constraints spread."""
    found: list[PodShape] = []
    for i, shape in enumerate(shapes[::REPLICAS]):
        labels = {"app": f"a{i}"}
        pod = replace(shape, labels=labels, default_selector=LabelSelector(labels))
        found += [pod] * min(REPLICAS, len(shapes) - len(found))
    return found


def run(
    nodes: Sequence[openb.TraceNode], shapes: Sequence[PodShape], profile: Profile
) -> tuple[float, int]:
    """Processor seconds per pod, and how many pods found a node."""
    gc.collect()
    began = time.process_time()
    scheduler = KubeScheduler(openb.cluster_nodes(nodes), [profile])
    placed = sum(scheduler.place(it) is not None for it in shapes)
    return (time.process_time() - began) / len(shapes), placed


def main() -> None:
    """Run each profile at both sizes."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--nodes", type=int, default=10_000)
    arguments.add_argument("--pods", type=int, default=100_000)
    arguments.add_argument("--profile", choices=PROFILES, action="append")
    given = arguments.parse_args()
    with (given.folder / "nodes.csv").open(newline="") as lines:
        nodes = list(openb.nodes(lines))
    with (given.folder / "pods_default.csv").open(newline="") as lines:
        pods = list(openb.pods(lines))
    small = round(
        len(pods) * SHARE * sum(it.gpus for it in nodes) * 1000 / sum(it.demand for it in pods)
    )
    copies = [
        replace(it, name=f"{it.name}-{i}")
        for i in range(-(-given.nodes // len(nodes)))
        for it in nodes
    ][: given.nodes]
    for name in given.profile or PROFILES:
        found = []
        for them, count in ((nodes, small), (copies, given.pods)):
            shapes = drawn(pods, count)
            if name == "deployments":
                shapes = of_deployments(shapes)
            each, placed = run(them, shapes, PROFILES[name])
            found.append(each)
            print(
                f"{name}: {len(them)} nodes, {count} pods, {placed} placed: {1 / each:,.0f} pods/s, "
                f"{each * count:.1f} s, {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MiB",
                flush=True,
            )
        growth = math.log(found[1] / found[0]) / math.log(len(copies) / len(nodes))
        print(f"{name}: time per pod grows with the nodes to the power of {growth:.2f}")


if __name__ == "__main__":
    main()
