"""Does the simulator decide what Kueue's scheduler decides? Both play the same drawn scenarios.

    python -m tests.servers.kueue_scheduler --count 10000 --seed 7 [--fair]

plays more, and others, than the test does, and prints where they differ. With --ties, workloads are
created at equal times, so that Kueue's order is left to chance; the simulator then has to mark a tie,
and one of the results that it finds possible must be that of Kueue.
"""

from __future__ import annotations

import argparse
import calendar
import json
import subprocess
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from policygen.core.decoding import converted
from policygen.core.finding import At
from policygen.core.versions import DEFAULT
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue_settings import Settings, first
from policygen.kubernetes.kueue_workloads import WorkloadView
from policygen.kubernetes.listed_nodes import listed_nodes
from policygen.kubernetes.object import Object
from policygen.kubernetes.typed import decoded
from policygen.simulate.kueue.build import state_of, workload_of
from policygen.simulate.kueue.entry import Outcome
from policygen.simulate.kueue.pods_ready import PodsReadyRule
from policygen.simulate.kueue.scheduler import Scheduler
from policygen.simulate.kueue.ties import following
from policygen.simulate.kueue.topologies import add_topologies
from policygen.simulate.kueue.workload import PodSetAdmission, QueuedWorkload

from .build import build
from .kueue_scenarios import NAMESPACE, Data, drawn
from .kueue_topologies import used
from .upstream import KUEUE_SCHEDULER

QUIET_CYCLES = 16
"""So many cycles may change nothing while a scan of flavors goes on."""
KINDS = (
    "flavors",
    "cohorts",
    "clusterQueues",
    "localQueues",
    "namespaces",
    "admissionChecks",
    "topologies",
    "nodes",
)
"""The objects of a scenario."""
BATCH = 1000
"""So many scenarios are in memory."""
MOST_ATTEMPTS = 100
"""So many outcomes of ties are compared in order."""
MOST_RANDOM = 600
"""So many more are compared that change ties of the outcome that agreed for the longest time."""


@dataclass
class Step:
    """What one step of a scenario did."""

    cycles: int = 0
    livelock: bool = False
    actions: set[tuple[int, str, str, str]] = field(default_factory=set)
    """Cycle, workload, what happened to it, and why."""
    workloads: dict[str, tuple[object, ...]] = field(default_factory=dict)
    """Flavors, message, and the place in the queue, by name."""
    ties: list[int] = field(default_factory=list)
    """So many ties the simulator met until the end of each cycle."""


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
            flavors = [
                (p["name"], p["count"], p["flavors"], p.get("topology", {}))
                for p in each.get("podSets", ())
            ]
            where = "checks" if each.get("checked") else each.get("where", "")
            found.workloads[each["name"]] = flavors, each.get("message", ""), where
        before += found.cycles
        yield found


class Script(Random):
    """Takes these options at ties, and the first one at all later ties.

    An option beyond the last one counts from the first again: other earlier options lead to other ties.
    """

    def __init__(self, options: tuple[int, ...] = ()) -> None:
        super().__init__(0)
        self.options = options
        self.widths: list[int] = []

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:  # noqa: ARG002 - as in Random
        at = len(self.widths)
        self.widths.append(start)
        return self.options[at] % start if at < len(self.options) else 0


def simulated(scenario: Data, chance: Script) -> list[Step]:
    """What the simulator does."""
    play = KueuePlay.of(scenario, chance)
    found = []
    for step in scenario["steps"]:
        found.append(play.step(step))
        if found[-1].livelock:
            break
    return found


class KueuePlay:
    """A scenario on the simulator."""

    def __init__(
        self, scheduler: Scheduler, settings: Settings, max_cycles: int, chance: Script
    ) -> None:
        self.scheduler = scheduler
        self.settings = settings
        self.max_cycles = max_cycles
        self.chance = chance
        self.workloads: dict[str, QueuedWorkload] = {}

    @classmethod
    def of(cls, scenario: Data, chance: Script) -> KueuePlay:
        """The queues of a scenario, before its first step."""
        objects = (Object.read(it, At(0, ())) for kind in KINDS for it in scenario.get(kind, ()))
        fair = scenario["fairSharing"]
        strategies = tuple(fair["preemptionStrategies"]) if fair else ()
        cluster = Cluster(it for it in objects if it is not None)
        assert not cluster.malformed
        settings = first(cluster, DEFAULT["kueue"])
        state = state_of(cluster, strategies)
        state.chance = chance
        add_topologies(state, cluster, listed_nodes(cluster), used(scenario))
        state.pods_ready = _rule(scenario.get("waitForPodsReady"))
        return cls(Scheduler(state), settings, scenario["maxCycles"], chance)

    def step(self, step: Data) -> Step:
        found = Step()
        for name in step["finish"]:
            self.scheduler.finish(self.workloads.pop(name), step["at"])
        self._change(found, step)
        for it in step["create"]:
            workload = _workload(it, self.settings)
            self.workloads[workload.name] = workload
            self.scheduler.submit(workload)
        while True:
            self._cycles(found, step["at"])
            if found.livelock or self.scheduler.retry(self.scheduler.changed()) == 0:
                break
        found.workloads = {name: self._result(it) for name, it in self.workloads.items()}
        return found

    def _change(self, found: Step, step: Data) -> None:
        """What happens before the cycles, in the order of the Go program."""
        scheduler, now = self.scheduler, step["at"]
        scheduler.tick(now)
        self._release(found, now)
        for it in step.get("clusterQueues", ()):
            scheduler.stop_queue(it["metadata"]["name"], it["spec"]["stopPolicy"], now)
            self._release(found, now)
        for it in step.get("localQueues", ()):
            name = f"{NAMESPACE}/{it['metadata']['name']}"
            scheduler.stop_local_queue(name, it["spec"]["stopPolicy"], now)
            self._release(found, now)
        for name, active in sorted(step.get("active", {}).items()):
            scheduler.set_active(self.workloads[name], active=active)
        for name in step.get("ready", ()):
            scheduler.ready(self.workloads[name])
        for it in step.get("checks", ()):
            scheduler.check(
                self.workloads[it["workload"]],
                it["check"],
                it["state"],
                now,
                retry_after=it.get("requeueAfterSeconds"),
            )
        self._release(found, now)

    def _release(self, found: Step, now: float) -> None:
        """The pods of all evicted workloads end."""
        for victim in sorted(self.scheduler.evicted(), key=lambda it: it.name):
            found.actions.add((found.cycles, victim.name, "evicted", victim.reason))
            self.scheduler.release(victim, now)

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
        self._release(found, now)
        found.ties.append(len(self.chance.widths))
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
            checked = "checks" if workload.pending_checks else ""
            return (
                [(it.name, it.count, dict(it.flavors), _domains(it)) for it in pod_sets],
                "",
                checked,
            )
        return [], workload.message, self.scheduler.where(workload)


def _domains(of: PodSetAdmission) -> dict[str, int]:
    pods = of.placement.pods if of.placement else {}
    return {it if isinstance(it, str) else ",".join(it): count for it, count in pods.items()}


def _rule(data: Data | None) -> PodsReadyRule | None:
    if data is None:
        return None
    return PodsReadyRule(
        data["timeout"],
        data["backoffBaseSeconds"],
        data["backoffMaxSeconds"],
        data["backoffLimitCount"],
        data["timestamp"] == "Eviction",
    )


def _workload(data: Data, settings: Settings) -> QueuedWorkload:
    metadata = data["metadata"]
    created = calendar.timegm(time.strptime(metadata["creationTimestamp"], "%Y-%m-%dT%H:%M:%SZ"))
    fields = converted(data["spec"], WorkloadView, decoded)
    name, uid = f"{NAMESPACE}/{metadata['name']}", metadata["uid"]
    return workload_of(name, uid, created, fields, settings)


@dataclass(frozen=True)
class Difference:
    """Where two plays of a scenario differ first."""

    words: str = ""
    """Empty: nowhere."""
    ties: int = 0
    """How many ties were met until then."""
    agreed: tuple[int, int] = (0, 0)
    """The step and the cycle until which they agree."""


def difference(theirs: list[Step], ours: list[Step]) -> Difference:
    """Where the simulator first differs from Kueue."""
    for i, (one, other) in enumerate(zip(theirs, ours, strict=False)):
        if one.livelock and other.livelock:
            return Difference()
        if one.actions != other.actions or one.livelock != other.livelock:
            only, own = one.actions - other.actions, other.actions - one.actions
            words = f"actions: only Kueue {sorted(only)[:2]}, only the simulator {sorted(own)[:2]}"
            if one.livelock != other.livelock:
                words = f"livelock: Kueue {one.livelock}, the simulator {other.livelock}; {words}"
            cycle = min((it[0] for it in only | own), default=other.cycles)
            ties = _ties_until(ours[: i + 1], cycle)
            return Difference(f"step {i}: {words}", ties, (i, cycle))
        for name, result in one.workloads.items():
            if result != other.workloads[name]:
                words = f"{name}: Kueue {result}, the simulator {other.workloads[name]}"
                ties = _ties_until(ours[: i + 1], other.cycles)
                return Difference(f"step {i}: {words}", ties, (i, other.cycles + 1))
    if len(theirs) != len(ours):
        return Difference(f"{len(theirs)} steps of Kueue, {len(ours)} of the simulator")
    return Difference()


def _ties_until(steps: list[Step], cycle: int) -> int:
    """The ties until a cycle of the last step."""
    counts = [n for it in steps[:-1] for n in it.ties] + steps[-1].ties[:cycle]
    return max(counts, default=0)


def closest(scenario: Data, theirs: list[Step]) -> tuple[str, int]:
    """Where they differ in every outcome of ties that was tried, empty if nowhere; and how many were tried.

    After the first ones in order, random outcomes: each changes some ties of the one that agreed for the
    longest time.
    """
    script: tuple[int, ...] | None = ()
    first = ""
    best, kept, widths = (-1, -1), (), list[int]()
    random = Random(1)
    for attempt in range(MOST_ATTEMPTS + MOST_RANDOM):
        if attempt >= MOST_ATTEMPTS:
            script = _changed(random, kept, widths)
        if script is None:
            return first, attempt
        chance = Script(script)
        found = difference(theirs, simulated(scenario, chance))
        if not found.words:
            return "", attempt + 1
        first = first or found.words
        before = chance.widths[: found.ties]
        if found.agreed >= best:
            best, widths = found.agreed, before
            kept = (*script, *[0] * len(before))[: len(before)]
        script = following(script, before)  # later ties do not explain it
    return first, MOST_ATTEMPTS + MOST_RANDOM


def _changed(random: Random, script: tuple[int, ...], widths: list[int]) -> tuple[int, ...] | None:
    """The script with other options for one to all of its ties; None: it has none."""
    if not widths:
        return None
    share = random.choice([1 / len(widths), 0.2, 0.5, 1.0])
    chosen = random.randrange(len(widths))
    return tuple(
        random.randrange(width) if i == chosen or random.random() < share else option
        for i, (option, width) in enumerate(zip(script, widths, strict=True))
    )


def compared(first: int, count: int, **kinds: bool) -> Iterator[tuple[int, str]]:
    """The seeds whose scenarios differ, and where."""
    for start in range(first, first + count, BATCH):
        seeds = range(start, min(start + BATCH, first + count))
        scenarios = [drawn(it, **kinds) for it in seeds]
        for seed, scenario, theirs in zip(seeds, scenarios, real(scenarios), strict=True):
            words, _ = closest(scenario, theirs)
            if words:
                yield seed, words


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fair", action="store_true")
    parser.add_argument("--ties", action="store_true")
    parser.add_argument("--events", action="store_true")
    parser.add_argument("--topology", action="store_true")
    options = parser.parse_args()
    first = options.seed * 10**6
    found = 0
    kinds = {
        "fair": options.fair,
        "ties": options.ties,
        "events": options.events,
        "topology": options.topology,
    }
    for seed, words in compared(first, options.count, **kinds):
        found += 1
        print(seed, words, flush=True)
    print(f"{options.count} scenarios, {found} differ")


if __name__ == "__main__":
    main()
