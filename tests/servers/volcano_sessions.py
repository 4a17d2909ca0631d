"""Does the simulator decide what Volcano's scheduler decides? Both run sessions on the same drawn states.

    python -m tests.servers.volcano_sessions --count 1000 --seed 7

plays more, and others, than the test does, and prints where they differ.

Volcano's scheduler chooses at random between equal nodes, and it reads tasks in the order of Go's maps. So the
simulator follows the choices that Volcano made, wherever they are among its own.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import yaml
from msgspec import Struct

from policygen.core.decoding import converted
from policygen.core.finding import At
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.listed_nodes import listed_nodes
from policygen.kubernetes.object import Object
from policygen.kubernetes.typed import decoded
from policygen.kubernetes.workloads import PodSpec
from policygen.simulate.placement.shape import PodShape, shape_of
from policygen.simulate.volcano.actions import ACTIONS
from policygen.simulate.volcano.amounts import counted
from policygen.simulate.volcano.build import queue_of, task_of, volcano_state
from policygen.simulate.volcano.choices import Choices
from policygen.simulate.volcano.job import Phase, TaskStatus, VolcanoJob, VolcanoTask
from policygen.simulate.volcano.kubernetes_view import KubernetesView
from policygen.simulate.volcano.session import Session
from policygen.simulate.volcano.settings import settings_of
from policygen.simulate.volcano.state import VolcanoState

from .build import build
from .upstream import VOLCANO_SESSIONS
from .volcano_scenarios import Data, drawn

SHOWN = 10
REPEATS = 4
TRIES = 100
"""So many random orders are tried until the simulator does what Volcano did."""


class _Amounts(Struct):
    requests: dict[str, Fraction]


Places = dict[str, tuple[str, str]]
"""The status and node of each pod."""


def program() -> Path:
    """Sessions of Volcano's scheduler as a program; builds it if it is missing."""
    return build([VOLCANO_SESSIONS], quiet=True)[VOLCANO_SESSIONS.name].binary("sessions")


class Real:
    """Volcano's scheduler."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [program()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def session(self, state: Data) -> Data:
        """What it does with a state."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(state) + "\n")
        self.process.stdin.flush()
        lines = iter(self.process.stdout.readline, "")
        line = next(it for it in lines if it.startswith("{"))  # plugins print lines of their own
        found: Data = json.loads(line)
        if found.get("error"):
            raise ValueError(found["error"])
        return found

    def close(self) -> None:
        """End the program."""
        self.process.communicate(timeout=30)


class Following(Choices):
    """Chooses what Volcano chose."""

    def __init__(self, seed: int, names: Sequence[str]) -> None:
        super().__init__(seed)
        self.random = random.Random(seed)
        self.first = seed == 0
        self.names = names
        self.places: dict[str, Data] = {}
        """What this action changed."""

    def _theirs(self, task: VolcanoTask) -> str:
        found = self.places.get(task.name)
        return found.get("node", "") if found else ""

    def node(self, task: VolcanoTask, equal: Sequence[int]) -> int:
        theirs = self._theirs(task)
        return next(
            (it for it in equal if self.names[it] == theirs), self.random.choice(list(equal))
        )

    def visits(self, task: VolcanoTask, nodes: Sequence[int]) -> list[int]:
        found = list(nodes)
        if not self.first:
            self.random.shuffle(found)
        theirs = self._theirs(task)
        if self.first or self.random.random() < 0.8:
            found.sort(key=lambda it: self.names[it] != theirs)
        return found

    def victims(self, tasks: Sequence[VolcanoTask]) -> list[VolcanoTask]:
        found = list(tasks)
        self.random.shuffle(found)
        if self.first or self.random.random() < 0.5:
            found.sort(key=lambda it: self.places.get(it.name, {}).get("status") != "Releasing")
        return found


class Simulated:
    """The simulator with one state."""

    def __init__(self, state: Data, configuration: Data, shapes: dict[str, PodShape]) -> None:
        objects = (Object.read(it, At(0, ())) for it in (*state["nodes"], *state["queues"]))
        cluster = Cluster(it for it in objects if it is not None)
        assert not cluster.malformed
        self.state: VolcanoState = volcano_state(cluster, listed_nodes(cluster))
        for it in cluster.queues:
            created = _seconds(it.object.data["metadata"]["creationTimestamp"])
            self.state.queues[it.object.name] = queue_of(it, created)
        self.settings = settings_of(configuration)
        self.names = [it.name for it in self.state.nodes.table.all]
        classes = {it["metadata"]["name"]: it["value"] for it in state["priorityClasses"]}
        pods: dict[str, list[Data]] = {}
        for it in state["pods"]:
            pods.setdefault(
                it["metadata"]["annotations"]["scheduling.k8s.io/group-name"], []
            ).append(it)
        for it in state["podGroups"]:
            spec = it["spec"]
            minimum = spec.get("minResources")
            job = VolcanoJob(
                f"{it['metadata']['namespace']}/{it['metadata']['name']}",
                spec["queue"],
                min_available=spec["minMember"],
                role_minimums=spec.get("minTaskMember", {}),
                min_resources=None if minimum is None else counted(_quantities(minimum)),
                priority=classes.get(spec.get("priorityClassName", ""), 0),
                created=_seconds(it["metadata"]["creationTimestamp"]),
                phase=Phase(it["status"]["phase"]),
            )
            self.state.jobs[job.name] = job
            for one in pods.get(it["metadata"]["name"], ()):
                task = self._task(one, shapes)
                job.add(task)
                self.state.add_task(task)
        self.view = KubernetesView(self.state.nodes.table, self.settings)

    def _task(self, pod: Data, shapes: dict[str, PodShape]) -> VolcanoTask:
        metadata, status = pod["metadata"], pod["status"]
        spec = {
            key: it
            for key, it in pod["spec"].items()
            if key not in ("priority", "preemptionPolicy", "nodeName")
        }
        typed = converted(spec, PodSpec, decoded)
        key = json.dumps([metadata["labels"], spec], sort_keys=True)
        if key not in shapes:
            shapes[key] = shape_of(typed, metadata["labels"], metadata["namespace"])
        name = f"{metadata['namespace']}/{metadata['name']}"
        found = task_of(name, shapes[key], typed, metadata["annotations"])
        found.priority = pod["spec"]["priority"]
        found.preempts = pod["spec"].get("preemptionPolicy") != "Never"
        found.uid = metadata["uid"]
        found.created = _seconds(metadata["creationTimestamp"])
        if node := pod["spec"].get("nodeName"):
            found.node = self.names.index(node)
            found.status = TaskStatus.RUNNING if status["phase"] == "Running" else TaskStatus.BOUND
            if "deletionTimestamp" in metadata:
                found.status = TaskStatus.RELEASING
        if node := status.get("nominatedNodeName"):
            found.nominated = self.names.index(node)
        return found

    def places(self) -> Places:
        """The status and node of each pod."""
        return {
            task.name: (task.status.value, "" if task.node is None else self.names[task.node])
            for job in self.state.jobs.values()
            for task in job.tasks.values()
        }

    def scores(self) -> dict[str, dict[str, float]]:
        """The scores of the nodes that take each pending pod."""
        session = Session(self.state, self.settings, self.view, Choices(None))
        found = {}
        for job in session.jobs:
            for task in job.by_status[TaskStatus.PENDING].values():
                nodes = session.nodes.with_room(
                    session.nodes.future, task.requests, session.nodes.indexes
                )
                refused = session.refusals(task, nodes)
                fit = [it for it in nodes if it not in refused]
                scores = session.scores.of(task, fit) if fit else []
                found[task.name] = {
                    self.names[it]: score for it, score in zip(fit, scores, strict=True)
                }
        return found

    def session(self, real: Data, seed: int) -> str:
        """Run a session, following Volcano's choices; returns the first difference."""
        choices = Following(seed, self.names)
        session = Session(self.state, self.settings, self.view, choices)
        before, difference = self.places(), ""
        for name, theirs in zip(self.settings.actions, real["actions"], strict=True):
            choices.places = theirs
            ACTIONS[name](session)
            after = self.places()
            changed = {
                task: {"status": it[0], "node": it[1]}
                for task, it in after.items()
                if it != before[task]
            }
            expected = {task: {"node": "", **it} for task, it in theirs.items()}
            if changed != expected and not difference:
                keys = sorted(
                    it for it in changed.keys() | expected if changed.get(it) != expected.get(it)
                )
                difference = f"{name}: " + "; ".join(
                    f"{it} {_place(expected.get(it))}, the simulator {_place(changed.get(it))}"
                    for it in keys[:3]
                )
            before = after
        session.close()
        if not difference:
            difference = next(self._conditions(real["groups"]), "")
        return difference

    def _conditions(self, groups: Data) -> Iterator[str]:
        for name, theirs in sorted(groups.items()):
            job = self.state.jobs[name]
            if job.phase.value != theirs["phase"]:
                yield f"phase of {name}: {theirs['phase']}, the simulator {job.phase.value}"
            said = theirs["conditions"].get("Unschedulable", "")
            mine = f"{job.reason}: {job.message}" if job.reason == "NotEnoughResources" else ""
            if (
                job.reason != "Unschedulable"
                and said.partition(". Origin")[0] != mine.partition(". Origin")[0]
            ):
                yield f"condition of {name}: {said}; the simulator {mine}"


def _place(it: Data | None) -> str:
    return f"{it['status']} {it['node']}".strip() if it else "unchanged"


def _quantities(amounts: Data) -> Data:
    return converted({"requests": amounts}, _Amounts, decoded).requests


def _seconds(moment: str) -> float:
    return float(moment[-3:-1])


class Play:
    """A scenario on both."""

    def __init__(self, real: Real, scenario: Data) -> None:
        self.real = real
        self.scenario = scenario
        self.groups: dict[str, Data] = {}
        self.pods: dict[str, Data] = {}
        self.seen: Counter[str] = Counter()
        self.random = random.Random(1)
        self.shapes: dict[str, PodShape] = {}

    def differences(self) -> Iterator[str]:
        """Where they differ, by session."""
        fixed = {key: self.scenario[key] for key in ("nodes", "priorityClasses", "queues")}
        for i, step in enumerate(self.scenario["steps"]):
            self._before(step)
            state = {
                **fixed,
                "configuration": yaml.safe_dump(self.scenario["configuration"], sort_keys=False),
                "podGroups": [*self.groups.values()],
                "pods": [*self.pods.values()],
                "scores": True,
            }
            theirs, after, difference = self._agreed(state)
            self.seen["sessions"] += 1
            if difference:
                yield f"step {i}: {difference}"
            self._after(theirs, after)

    def _agreed(self, state: Data) -> tuple[Data, Simulated, str]:
        """What Volcano does, the simulator after that, and where they differ.

        Volcano runs again after a difference, because some of its choices leave no trace.
        """
        difference = ""
        for _ in range(REPEATS):
            theirs = self.real.session(state)
            mine = Simulated(state, self.scenario["configuration"], self.shapes)
            if found := next(_unequal(theirs.get("scores", {}), mine.scores()), ""):
                return theirs, mine, found
            for seed in range(TRIES):
                after = Simulated(state, self.scenario["configuration"], self.shapes)
                found = after.session(theirs, seed)
                if not found:
                    return theirs, after, ""
                difference = difference or found
            self.seen["repeated"] += 1
        return theirs, after, difference

    def _before(self, step: Data) -> None:
        for name, pod in [*self.pods.items()]:
            if "deletionTimestamp" in pod["metadata"] and step["leave"]:
                fresh = copy.deepcopy(pod)
                del fresh["metadata"]["deletionTimestamp"]
                del fresh["spec"]["nodeName"]
                fresh["metadata"]["uid"] += "x"
                fresh["status"] = {"phase": "Pending"}
                self.pods[name] = fresh
        for name in [*self.groups]:
            if (
                self.groups[name]["status"]["phase"] == "Running"
                and self.random.random() < step["ends"]
            ):
                del self.groups[name]
                for its in [it for it in self.pods if it.startswith(f"{name}-")]:
                    del self.pods[its]
        for it in copy.deepcopy(step["jobs"]):
            self.groups[it["podGroup"]["metadata"]["name"]] = it["podGroup"]
            self.pods |= {one["metadata"]["name"]: one for one in it["pods"]}

    def _after(self, theirs: Data, mine: Simulated) -> None:
        for changed in theirs["actions"]:
            for name, it in changed.items():
                pod = self.pods[name.partition("/")[2]]
                self.seen[it["status"]] += 1
                if it["status"] == "Binding":
                    pod["spec"] = {**pod["spec"], "nodeName": it["node"]}
                    pod["status"] = {"phase": "Running"}
                elif it["status"] == "Releasing":
                    pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:01:00Z"
        for name, it in theirs["groups"].items():
            self.groups[name.partition("/")[2]]["status"]["phase"] = it["phase"]
        for job in mine.state.jobs.values():
            for task in job.by_status[TaskStatus.PENDING].values():
                if task.nominated is not None:
                    pod = self.pods[task.name.partition("/")[2]]
                    pod["status"]["nominatedNodeName"] = mine.names[task.nominated]


def _unequal(theirs: Data, mine: dict[str, dict[str, float]]) -> Iterator[str]:
    for name, scores in sorted(theirs.items()):
        if scores.keys() != mine[name].keys():
            yield f"nodes for {name}: {sorted(scores)}, the simulator {sorted(mine[name])}"
            continue
        for node, score in scores.items():
            if abs(score - mine[name][node]) > 1e-6:
                yield f"score of {node} for {name}: {score}, the simulator {mine[name][node]}"


def compared(seed: int, count: int, seen: Counter[str] | None = None) -> Iterator[str]:
    """Where they differ, by seed."""
    real = Real()
    try:
        for each in range(seed, seed + count):
            play = Play(real, drawn(each))
            for found in play.differences():
                yield f"seed {each}, {found}"
            if seen is not None:
                seen.update(play.seen)
    finally:
        real.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    seen: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for i, it in enumerate(compared(options.seed, options.count, seen)):
        kinds[it.partition(": ")[2].partition(" ")[0]] += 1
        if i < SHOWN:
            print(it)
    print(f"{options.count} scenarios from seed {options.seed}: {dict(seen)}; {dict(kinds)} differ")


if __name__ == "__main__":
    main()
