"""Does the simulator decide what Kueue's scheduler decides? Both play the same drawn scenarios.

    python -m tests.servers.kueue_scheduler --count 10000 --seed 7 [--fair]

plays more, and others, than the test does, and prints where they differ.
"""

from __future__ import annotations

import argparse
import calendar
import json
import subprocess
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from policygen.core.decoding import converted
from policygen.core.finding import At
from policygen.core.versions import DEFAULT
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue_settings import Settings, first
from policygen.kubernetes.kueue_workloads import WorkloadView
from policygen.kubernetes.object import Object
from policygen.kubernetes.typed import decoded
from policygen.simulate.kueue.build import state_of, workload_of
from policygen.simulate.kueue.entry import Outcome
from policygen.simulate.kueue.scheduler import Scheduler
from policygen.simulate.kueue.workload import QueuedWorkload

from .build import build
from .kueue_scenarios import NAMESPACE, Data, drawn
from .upstream import KUEUE_SCHEDULER

QUIET_CYCLES = 16
"""So many cycles may change nothing while a scan of flavors goes on."""
SHOWN = 10


@dataclass
class Step:
    """What one step of a scenario did."""

    cycles: int = 0
    livelock: bool = False
    actions: set[tuple[int, str, str, str]] = field(default_factory=set)
    """Cycle, workload, what happened to it, and why."""
    workloads: dict[str, tuple[object, ...]] = field(default_factory=dict)
    """Flavors, message, and the place in the queue, by name."""


def program() -> Path:
    """Kueue's scheduler as a program; builds it if it is missing."""
    return build([KUEUE_SCHEDULER], quiet=True)[KUEUE_SCHEDULER.name].binary("kueue-scheduler")


def real(scenarios: Iterable[Data]) -> Iterator[list[Step]]:
    """What Kueue does."""
    text = "\n".join(json.dumps(it) for it in scenarios)
    done = subprocess.run([program()], input=text, capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        found = json.loads(line)
        if "error" in found:
            raise ValueError(found["error"])
        yield list(_steps(found["steps"]))


def _steps(steps: list[Data]) -> Iterator[Step]:
    before = 0
    for it in steps:
        found = Step(it["cycles"], it.get("livelock", False))
        for each in it["actions"] or ():
            cycle = each["cycle"] - before
            found.actions.add((cycle, each["workload"], each["what"], each.get("reason", "")))
        for each in it["workloads"]:
            flavors = [(p["name"], p["count"], p["flavors"]) for p in each.get("podSets", ())]
            found.workloads[each["name"]] = flavors, each.get("message", ""), each.get("where", "")
        before += found.cycles
        yield found


def simulated(scenario: Data) -> list[Step]:
    """What the simulator does."""
    kinds = ("flavors", "cohorts", "clusterQueues", "localQueues", "namespaces")
    objects = (Object.read(it, At(0, ())) for kind in kinds for it in scenario[kind])
    fair = scenario["fairSharing"]
    strategies = tuple(fair["preemptionStrategies"]) if fair else ()
    cluster = Cluster(it for it in objects if it is not None)
    assert not cluster.malformed
    settings = first(cluster, DEFAULT["kueue"])
    play = _Play(Scheduler(state_of(cluster, strategies)), settings, scenario["maxCycles"])
    found = []
    for step in scenario["steps"]:
        found.append(play.step(step))
        if found[-1].livelock:
            break
    return found


class _Play:
    """A scenario on the simulator."""

    def __init__(self, scheduler: Scheduler, settings: Settings, max_cycles: int) -> None:
        self.scheduler = scheduler
        self.settings = settings
        self.max_cycles = max_cycles
        self.workloads: dict[str, QueuedWorkload] = {}

    def step(self, step: Data) -> Step:
        for name in step["finish"]:
            self.scheduler.finish(self.workloads.pop(name))
        for it in step["create"]:
            workload = _workload(it, self.settings)
            self.workloads[workload.name] = workload
            self.scheduler.submit(workload)
        found = Step()
        while True:
            self._cycles(found, step["at"])
            if found.livelock or self.scheduler.retry(self.scheduler.changed()) == 0:
                break
        found.workloads = {name: self._result(it) for name, it in self.workloads.items()}
        return found

    def _cycles(self, found: Step, now: float) -> None:
        """Run cycles until the same state comes back."""
        seen: set[str] = set()
        quiet = 0
        while self.scheduler.waits():
            if found.cycles >= self.max_cycles:
                found.livelock = True
                return
            found.cycles += 1
            if self._cycle(found, now):
                seen, quiet = set(), 0
                continue
            quiet += 1
            state = self._state()
            if state in seen and quiet > QUIET_CYCLES:
                return
            seen.add(state)

    def _cycle(self, found: Step, now: float) -> bool:
        """Run one cycle, and release its victims; false if nothing happened."""
        before = len(found.actions)
        for entry in self.scheduler.cycle(now):
            if entry.outcome is Outcome.ADMITTED:
                found.actions.add((found.cycles, entry.workload.name, "admitted", ""))
        for victim in sorted(self.scheduler.evicted(), key=lambda it: it.name):
            found.actions.add((found.cycles, victim.name, "evicted", victim.reason))
            self.scheduler.release(victim)
        return len(found.actions) > before

    def _state(self) -> str:
        waiting = [
            sorted(it.name for it in queue.pending.waiting())
            for queue in self.scheduler.state.queues.values()
        ]
        return repr((sorted((it.name, it.message) for it in self.workloads.values()), waiting))

    def _result(self, workload: QueuedWorkload) -> tuple[object, ...]:
        if workload.admission is not None:
            pod_sets = workload.admission.pod_sets
            return [(it.name, it.count, dict(it.flavors)) for it in pod_sets], "", ""
        pending = self.scheduler.state.queue_of(workload).pending
        inadmissible = workload.name in pending.inadmissible
        return [], workload.message, "inadmissible" if inadmissible else "heap"


def _workload(data: Data, settings: Settings) -> QueuedWorkload:
    metadata = data["metadata"]
    created = calendar.timegm(time.strptime(metadata["creationTimestamp"], "%Y-%m-%dT%H:%M:%SZ"))
    fields = converted(data["spec"], WorkloadView, decoded)
    name, uid = f"{NAMESPACE}/{metadata['name']}", metadata["uid"]
    return workload_of(name, uid, created, fields, settings)


def differences(theirs: list[Step], ours: list[Step]) -> Iterator[str]:
    """Where they differ: the first difference of the first step that has one."""
    for i, (one, other) in enumerate(zip(theirs, ours, strict=False)):
        if one.livelock != other.livelock:
            yield f"livelock in step {i}: Kueue {one.livelock}, the simulator {other.livelock}"
            return
        if one.livelock:
            return
        if one.actions != other.actions:
            yield (
                f"actions of step {i}: only Kueue {sorted(one.actions - other.actions)[:2]}, "
                f"only the simulator {sorted(other.actions - one.actions)[:2]}"
            )
            return
        for name, result in one.workloads.items():
            if result != other.workloads[name]:
                yield f"{name} in step {i}: Kueue {result}, the simulator {other.workloads[name]}"
                return
    if len(theirs) != len(ours):
        yield f"{len(theirs)} steps of Kueue, {len(ours)} of the simulator"


def compared(first: int, count: int, *, fair: bool) -> Iterator[tuple[int, str]]:
    """The seeds whose scenarios differ, and where."""
    seeds = range(first, first + count)
    scenarios = [drawn(it, fair=fair) for it in seeds]
    for seed, scenario, theirs in zip(seeds, scenarios, real(scenarios), strict=True):
        for difference in differences(theirs, simulated(scenario)):
            yield seed, difference


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fair", action="store_true")
    options = parser.parse_args()
    found = list(compared(options.seed * 10**6, options.count, fair=options.fair))
    kinds = Counter(difference.split()[0] for _, difference in found)
    print(f"{options.count} scenarios, {len(found)} differ {dict(kinds)}")
    for seed, difference in found[:SHOWN]:
        print(seed, difference)


if __name__ == "__main__":
    main()
