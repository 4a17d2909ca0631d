"""The policies of the FGD paper on the trace of openb, by the ranking of the placement engine.

    python benchmarks/openb_policies.py FOLDER [--seeds 10] [--policy BestFit ...]

FOLDER has nodes.csv and pods_default.csv. Prints for each policy the share of all GPUs that is allocated when
the arrived pods request 100 % and 130 % of them, the published share, and the difference in percentage points.

Devices are shared: a pod takes some thousandths of one GPU, or whole GPUs. Formulas: "Beware of
Fragmentation" (USENIX ATC 2023), and pkg/simulator/plugin of hkust-adsl/kubernetes-scheduler-simulator.
"""

import argparse
import math
import random
import statistics
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from policygen.simulate import openb
from policygen.simulate.openb import WHOLE, TraceNode, TracePod
from policygen.simulate.placement.nodes import NodeTable
from policygen.simulate.placement.ranking import Ranking
from policygen.simulate.placement.scheduler import Ties
from policygen.simulate.placement.shape import PodShape, simple_shape

PUBLISHED = {
    "Random": (86.30, 87.47),
    "DotProd": (90.62, 90.85),
    "GpuClustering": (91.65, 91.88),
    "GpuPacking": (91.78, 92.00),
    "BestFit": (92.86, 93.08),
    "FGD": (95.23, 95.39),
}
"""The mean allocation of 10 seeds in per cent, at 100 % and 130 % of arrived requests."""
OFFERED = 1.3
FIRST_SEED = 42
_CPU, _GPU = 128_000, 8 * WHOLE
"""The largest node, in thousandths."""
_TYPICAL = 0.95


class Devices:
    """Nodes whose GPUs pods share."""

    def __init__(self, found: Sequence[TraceNode]) -> None:
        self.nodes = NodeTable(openb.cluster_nodes(found))
        self.models = [it.model for it in found]
        self.cpu, self.memory = self.nodes.free("cpu"), self.nodes.free("memory")
        self.left = [[WHOLE] * it.gpus for it in found]
        """What is left of each device."""
        self.total = [sum(it) for it in self.left]
        self.idle = [len(it) for it in self.left]
        """Devices that no pod uses."""
        self.top = [max(it, default=0) for it in self.left]
        """The most that is left of one device."""
        self.tags: list[set[str]] = [set() for _ in found]
        """The kinds of GPU pods that run on each node."""

    def take(self, node: int, pod: TracePod, shape: PodShape, device: int | None) -> None:
        """Bind a pod; whole GPUs are the idle ones with the lowest index."""
        left = self.left[node]
        if device is not None:
            left[device] -= pod.milli_gpu
        else:
            idle = [i for i, it in enumerate(left) if it == WHOLE]
            for i in idle[: pod.gpus]:
                left[i] = 0
        if pod.gpus:
            self.tags[node].add(tag(pod))
        self.total[node] = sum(left)
        self.idle[node] = left.count(WHOLE)
        self.top[node] = max(left)
        self.nodes.add(node, shape)

    def room(self, pod: TracePod, nodes: Sequence[int]) -> list[int]:
        """The nodes with room for a pod."""
        if is_share(pod):
            top, milli = self.top, pod.milli_gpu
            nodes = [it for it in nodes if top[it] >= milli]
        elif pod.gpus:
            idle, gpus = self.idle, pod.gpus
            nodes = [it for it in nodes if idle[it] >= gpus]
        cpu, memory = self.cpu, self.memory
        return [it for it in nodes if cpu[it] >= pod.milli_cpu and memory[it] >= pod.memory]


def is_share(pod: TracePod) -> bool:
    """Whether it takes a part of a GPU."""
    return pod.gpus == 1 and pod.milli_gpu < WHOLE


def tag(pod: TracePod) -> str:
    """The kind of a GPU pod for GpuClustering."""
    return "share" if is_share(pod) else str(pod.gpus)


class Policy:
    """Scores nodes for one shape; a device is the smallest with room."""

    def __init__(self, devices: Devices, pod: TracePod, typical: "Typical") -> None:
        self.devices = devices
        self.pod = pod
        self.typical = typical

    def scored(self, candidates: Sequence[int]) -> tuple[list[int], list[int]]:
        """The nodes with room, and their scores."""
        nodes = self.devices.room(self.pod, candidates)
        return nodes, self.scores(nodes)

    def scores(self, nodes: Sequence[int]) -> list[int]:
        """The scores of nodes with room."""
        return [self.score(it) for it in nodes]

    def score(self, node: int) -> int:
        """The score of a node with room."""
        raise NotImplementedError

    def device(self, node: int, source: random.Random) -> int:  # noqa: ARG002 - only Random uses it
        """The device for a share of a GPU."""
        milli = self.pod.milli_gpu
        return min((it, i) for i, it in enumerate(self.devices.left[node]) if it >= milli)[1]


class Random(Policy):
    """Any node and any device with room."""

    def scores(self, nodes: Sequence[int]) -> list[int]:
        """All equal."""
        return [0] * len(nodes)

    def device(self, node: int, source: random.Random) -> int:
        """Any device with room."""
        milli = self.pod.milli_gpu
        return source.choice([i for i, it in enumerate(self.devices.left[node]) if it >= milli])


class BestFit(Policy):
    """The node that has the least left."""

    def scores(self, nodes: Sequence[int]) -> list[int]:
        """Less room, more points."""
        cpu, total = self.devices.cpu, self.devices.total
        requested, gpu = self.pod.milli_cpu, self.pod.demand
        return [
            int(100 * (1 - (0.5 * (cpu[it] - requested) / _CPU + 0.5 * (total[it] - gpu) / _GPU)))
            for it in nodes
        ]


class DotProd(Policy):
    """The node where the product of what is left and what is requested is the smallest."""

    def scores(self, nodes: Sequence[int]) -> list[int]:
        """A smaller product, more points."""
        cpu, total = self.devices.cpu, self.devices.total
        by_cpu, by_gpu = self.pod.milli_cpu / _CPU, self.pod.demand / _GPU
        return [
            int(100 * (1 - (cpu[it] / _CPU * by_cpu + total[it] / _GPU * by_gpu) / 2))
            for it in nodes
        ]


class GpuClustering(Policy):
    """Nodes that run only pods of this kind, then nodes that run some, then empty ones."""

    def score(self, node: int) -> int:
        """A band by the kinds of pods, and more for a node with less left."""
        if not self.pod.gpus:
            return 0
        tags = self.devices.tags[node]
        known = tag(self.pod) in tags
        band = (75 if len(tags) == 1 else 50) if known else 0 if tags else 25
        return band + 25 * (_GPU - self.devices.total[node]) // _GPU


class GpuPacking(Policy):
    """Shared GPUs first, then idle GPUs of a node in use, then idle nodes."""

    def score(self, node: int) -> int:
        """A band by the GPUs that the pod would take."""
        pod, left = self.pod, self.devices.left[node]
        if not pod.gpus:
            return 0
        idle = self.devices.idle[node]
        if idle == len(left):
            return max(33 - idle, idle)
        taken = sorted(it for it in left if it >= pod.milli_gpu)[: pod.gpus]
        if whole := taken.count(WHOLE):
            return max(50 - whole, 33)
        return max(100 - sum(it * 100 // WHOLE for it in taken) // 10, 50)


class FGD(Policy):
    """The node where the expected unusable part of the GPUs grows least."""

    def __init__(self, devices: Devices, pod: TracePod, typical: "Typical") -> None:
        super().__init__(devices, pod, typical)
        self._memo: dict[object, tuple[int, int]] = {}

    def score(self, node: int) -> int:
        """The score with the best device."""
        return self._best(node)[0]

    def device(self, node: int, source: random.Random) -> int:  # noqa: ARG002 - see above
        """The device with the best score; of equal ones, the first."""
        return self.devices.left[node].index(self._best(node)[1])

    def _best(self, node: int) -> tuple[int, int]:
        """The best score, and what is left of its device."""
        here = self.devices
        left, cpu, model = tuple(sorted(here.left[node])), here.cpu[node], here.models[node]
        key = left, cpu, model
        found = self._memo.get(key)
        if found is None:
            found = self._memo[key] = self._of(left, cpu, model)
        return found

    def _of(self, left: tuple[int, ...], cpu: int, model: str) -> tuple[int, int]:
        pod, typical = self.pod, self.typical
        before, after_cpu = typical.unusable(left, cpu, model), cpu - pod.milli_cpu
        if not is_share(pod):
            rest = tuple(sorted((*left[: len(left) - pod.gpus], *([0] * pod.gpus))))
            return _points(before - typical.unusable(rest, after_cpu, model)), 0
        best = (-1, 0)
        for milli in dict.fromkeys(left):
            if milli >= pod.milli_gpu:
                other = list(left)
                other[other.index(milli)] -= pod.milli_gpu
                points = _points(before - typical.unusable(tuple(sorted(other)), after_cpu, model))
                best = max(best, (points, milli), key=lambda it: it[0])
        return best


def _points(gain: float) -> int:
    return int(100 / (1 + math.exp(-gain / 1000)))


class Typical:
    """The pods that arrive, and how much of a node's GPUs they cannot use."""

    def __init__(self, pods: Sequence[TracePod]) -> None:
        counts = Counter((it.milli_cpu, it.milli_gpu, it.gpus, it.models) for it in pods)
        ordered = sorted(counts.items(), key=lambda it: (it[1], it[0]), reverse=True)
        kept, total = [], 0
        for shape, count in ordered:
            if total >= _TYPICAL * len(pods):
                break
            kept.append((shape, count))
            total += count
        self._shapes = [(*shape, count / total) for shape, count in kept]
        self._cores = sorted({it[0] for it in self._shapes})
        self._known: dict[object, list[float]] = {}

    def unusable(self, left: tuple[int, ...], cpu: int, model: str) -> float:
        """The expected thousandths of GPUs that a pod of the trace cannot use."""
        steps = self._known.get((left, model))
        if steps is None:
            steps = self._known[left, model] = list(self._steps(left, model))
        return steps[bisect_right(self._cores, cpu)]

    def _steps(self, left: tuple[int, ...], model: str) -> Iterator[float]:
        """The same by the number of distinct core requests that the node has room for."""
        all_left = sum(left)
        gains = Counter[int]()
        for cores, milli, gpus, models, share in self._shapes:
            fitting = [it for it in left if it >= milli]
            if gpus and len(fitting) >= gpus and (not models or model in models):
                gains[cores] += share * sum(fitting)  # type: ignore[assignment] # a weight
        found = float(all_left)
        yield found
        for cores in self._cores:
            found -= gains[cores]
            yield found


POLICIES: dict[str, type[Policy]] = {
    it.__name__: it for it in (Random, DotProd, GpuClustering, GpuPacking, BestFit, FGD)
}


def arrivals(pods: Sequence[TracePod], capacity: int, source: random.Random) -> list[TracePod]:
    """All pods in an order by chance, and then copies, until they request 1.3 times the GPUs."""
    found = sorted(pods, key=lambda it: it.name)
    source.shuffle(found)
    requested = sum(it.demand for it in found)
    originals = list(found)
    while True:
        pod = source.choice(originals)
        if requested + pod.milli_gpu > OFFERED * capacity:
            return found
        found.append(pod)
        requested += pod.demand


def replay(
    name: str, nodes: Sequence[TraceNode], pods: Sequence[TracePod], seed: int
) -> tuple[float, float]:
    """The allocation in per cent at 100 % and at 130 % of arrived requests."""
    source = random.Random(seed)
    capacity = sum(it.gpus for it in nodes) * WHOLE
    order = list(nodes)
    source.shuffle(order)  # of equal nodes, the first is chosen
    devices, typical = Devices(order), Typical(pods)
    ties = Ties(seed if name == "Random" else None)
    known: dict[object, tuple[PodShape, Policy, Ranking]] = {}
    arrived = allocated = 0
    seen: dict[int, list[float]] = {100: [], 130: []}
    for pod in arrivals(pods, capacity, source):
        key = (pod.milli_cpu, pod.memory, pod.gpus, pod.milli_gpu, pod.models)
        if key not in known:
            policy = POLICIES[name](devices, pod, typical)
            allowed = [
                i for i, it in enumerate(devices.models) if not pod.models or it in pod.models
            ]
            shape = simple_shape({"cpu": pod.milli_cpu, "memory": pod.memory})
            known[key] = shape, policy, Ranking(devices.nodes, policy, allowed)
        shape, policy, ranking = known[key]
        arrived += pod.demand
        _, equal = ranking.best()
        if count := sum(map(len, equal)):
            node = ties.choose(equal, count)
            device = policy.device(node, source) if is_share(pod) else None
            devices.take(node, pod, shape, device)
            allocated += pod.demand
        at = round(100 * arrived / capacity)
        if at in seen:
            seen[at].append(round(100 * allocated / capacity, 2))
    return statistics.fmean(seen[100]), statistics.fmean(seen[130])


def main() -> None:
    """Replay each policy with each seed."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--seeds", type=int, default=10)
    arguments.add_argument("--policy", choices=POLICIES, action="append")
    given = arguments.parse_args()
    with (given.folder / "nodes.csv").open(newline="") as lines:
        nodes = list(openb.nodes(lines))
    with (given.folder / "pods_default.csv").open(newline="") as lines:
        pods = list(openb.pods(lines))
    for name in given.policy or POLICIES:
        began = time.process_time()
        found = [replay(name, nodes, pods, FIRST_SEED + i) for i in range(given.seeds)]
        took = (time.process_time() - began) / given.seeds
        means = [statistics.fmean(them) for them in zip(*found, strict=True)]
        print(
            f"{name:14}"
            + "".join(
                f"  {mean:6.2f} ({mean - published:+.2f})"
                for mean, published in zip(means, PUBLISHED[name], strict=True)
            )
            + f"  {took:.1f} s a run",
            flush=True,
        )


if __name__ == "__main__":
    main()
