"""Kueue's own performance baseline on the simulator: 15,000 workloads in 30 ClusterQueues of 5 cohorts.

    python benchmarks/kueue_baseline.py [--runs 3]

Prints processor seconds, in relation to the wall seconds of Kueue's published run (which creates objects
on an API server and waits for the workloads), the growth with the number of workloads, and the memory.
Source: test/performance/scheduler/configs/baseline of Kueue 0.19.2.
"""

import argparse
import gc
import math
import resource
import time
from collections.abc import Iterator

from policygen.simulate.arrival import Arrival
from policygen.simulate.kueue.queue import ANY, LOWER_PRIORITY, FlavorChoice, Group, SimulatedQueue
from policygen.simulate.kueue.quota import QuotaNode, settle
from policygen.simulate.kueue.scheduler import Scheduler
from policygen.simulate.kueue.state import QueueState
from policygen.simulate.kueue.workload import PodSet, QueuedWorkload
from policygen.simulate.timeline import Timeline

PUBLISHED_S = 351.1
"""The average of five runs, which rangespec.yaml names."""
PUBLISHED_WAITS_S = {"small": 215.5, "medium": 76.8, "large": 16.5}
"""The average time to admission."""
COHORTS, QUEUES = 5, 6
QUOTA, BORROWING = 20_000, 100_000
CLASSES = {
    "small": (350, 0.1, 0.2, 50, 1_000),
    "medium": (100, 0.5, 0.5, 100, 5_000),
    "large": (50, 1.2, 1.0, 200, 20_000),
}
"""Number in each queue, seconds between two, seconds that each runs, priority, thousandths of a core."""


def queues() -> Iterator[SimulatedQueue]:
    """The ClusterQueues in their cohorts."""
    group = Group(frozenset(["cpu"]), (FlavorChoice("rf", {"cpu": 0}),))
    for c in range(COHORTS):
        cohort = QuotaNode(f"cohort-{c}", 1, is_queue=False)
        for q in range(QUEUES):
            node = QuotaNode(f"{cohort.name}-cq-{q}", 1, is_queue=True)
            node.nominal, node.borrowing_limit = [QUOTA], [BORROWING]
            node.pairs, node.parent = frozenset([0]), cohort
            cohort.children.append(node)
            yield SimulatedQueue(
                node.name,
                node,
                (group,),
                within_cluster_queue=LOWER_PRIORITY,
                reclaim_within_cohort=ANY,
                namespaces=frozenset(["n"]),
            )
        settle(cohort)


def arrivals(names: list[str], factor: int) -> Iterator[Arrival]:
    """All workloads; with a factor, so many times as many, in so much more time."""
    number = 0
    for name in names:
        for kind, (count, interval, runs, priority, cpu) in CLASSES.items():
            pods = (PodSet("main", 1, (("cpu", cpu),)),)
            for i in range(count * factor):
                number += 1
                own, at = f"n/{name}-{kind}-{i}", i * interval
                workload = QueuedWorkload(own, f"{number:07d}", f"n/{name}", priority, at, pods)
                yield Arrival(own, kind, name, at, runs, workload, ())


def run(factor: int) -> tuple[float, Timeline]:
    """Processor seconds, and what happened."""
    found = list(queues())
    names = [it.name for it in found]
    state = QueueState([("rf", "cpu")], found, {f"n/{it}": it for it in names}, lambda *_: None)
    jobs = list(arrivals(names, factor))
    gc.collect()
    began = time.process_time()
    timeline = Timeline(jobs, Scheduler(state))
    for _ in timeline.run():
        pass
    return time.process_time() - began, timeline


def main() -> None:
    """Run it some times, and once four times as large."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=int, default=3)
    given = arguments.parse_args()
    times = []
    for _ in range(given.runs):
        seconds, timeline = run(1)
        times.append(seconds)
    best = min(times)
    preempted = sum(it.preempted for it in timeline.jobs)
    print(
        f"{len(timeline.jobs)} workloads, {timeline.cycles} cycles, {preempted} preemptions, "
        f"{sum(it.ended is not None for it in timeline.jobs)} ended after {timeline.now:.0f} s"
    )
    for kind, published in PUBLISHED_WAITS_S.items():
        waits = [timeline.waited(it) for it in timeline.jobs if it.arrival.kind == kind]
        print(f"{kind}: {sum(waits) / len(waits):.1f} s to admission; published {published} s")
    print(
        f"processor: {best:.1f} s ({min(times):.1f} to {max(times):.1f}), "
        f"{len(timeline.jobs) / best:,.0f} workloads/s; published {PUBLISHED_S} s wall, "
        f"ratio {best / PUBLISHED_S:.4f}"
    )
    larger, timeline = run(4)
    growth = math.log(larger / best) / math.log(4)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(
        f"{len(timeline.jobs)} workloads: {larger:.1f} s, growth to the power of {growth:.2f}, {peak} MiB"
    )


if __name__ == "__main__":
    main()
