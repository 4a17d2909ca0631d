"""Drawn gangs that Volcano does not start: does `why` name the cause, and do its changes start them?

    python -m tests.servers.why_gangs --count 20 --seed 7

draws 20 scenes of each cause, and others than the test does. Volcano's own scheduler decides: it runs in a
program of its own, as in `volcano_sessions`.
"""

from __future__ import annotations

import argparse
import copy
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import yaml
from msgspec.structs import replace

from policygen.core.finding import At
from policygen.core.versions import DEFAULT
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue_settings import first
from policygen.kubernetes.object import Object
from policygen.report import cause_words, remedy_words
from policygen.simulate.kueue.amounts import shown
from policygen.simulate.scene import Scene
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.scene_pools import cluster_nodes
from policygen.simulate.why import changes
from policygen.simulate.why.explainer import Explainer
from policygen.simulate.why.explanation import Explanation

from .volcano_scenarios import CREATED, GPU, HOST, Data
from .volcano_sessions import Real

NAMESPACE = "nlp"
TARGET = "target"
SESSIONS = 4
"""So many sessions show what becomes of a gang."""
REMEDIES = 8
TAINT = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
CLASSES = [{"metadata": {"name": "high"}, "value": 100}, {"metadata": {"name": "low"}, "value": 10}]
LENDS: Data = {"enablePreemptable": False, "enableReclaimable": False, "enableJobStarving": False}


def configuration(plugin: str, actions: str, *others: str, **fields: Any) -> Data:
    tiers = [
        [
            {"name": "priority"},
            {"name": "gang", **LENDS},
            {"name": "conformance"},
            *({"name": it} for it in others),
            {"name": plugin, **fields},
        ],
        [{"name": "predicates"}],
    ]
    return {"actions": actions, "tiers": [{"plugins": it} for it in tiers]}


LENDING = configuration("capacity", "allocate, preempt, reclaim, backfill")
TREE = configuration("capacity", "allocate, preempt, reclaim, backfill", enableHierarchy=True)
GATED = configuration("capacity", "enqueue, allocate, backfill")
OVERCOMMIT = configuration("proportion", "enqueue, allocate, backfill", "overcommit")
FORMS = (LENDING, TREE, GATED)


@dataclass
class Gang:
    """A Job of Volcano with one task."""

    name: str
    queue: str
    pods: int
    gpus: int
    least: int = 0
    cpu: int = 1
    spec: Data = field(default_factory=dict)
    """Of its pods."""

    @property
    def object(self) -> Data:
        amounts = {"cpu": str(self.cpu), GPU: str(self.gpus)}
        container = {
            "name": "c",
            "image": "i",
            "resources": {"requests": amounts, "limits": amounts},
        }
        pods = {"containers": [container], "restartPolicy": "Never", **self.spec}
        spec = {
            "schedulerName": "volcano",
            "queue": self.queue,
            "minAvailable": self.least or self.pods,
            "tasks": [{"name": "main", "replicas": self.pods, "template": {"spec": pods}}],
        }
        return _object("batch.volcano.sh/v1alpha1", "Job", self.name, spec, NAMESPACE)


@dataclass
class Drawn:
    """A cluster, jobs that run there, and one that waits."""

    kinds: tuple[str, ...]
    """The causes that are right."""
    nodes: list[Data]
    queues: list[Data]
    target: Gang
    holders: Sequence[Gang] = ()
    configuration: Data = field(default_factory=lambda: LENDING)


def node(name: str, gpus: int, cpu: int = 64, *, labels: Data | None = None, **spec: Any) -> Data:
    amounts = {"cpu": str(cpu), "memory": "256Gi", "pods": "110", GPU: str(gpus)}
    found = _object("v1", "Node", name, spec)
    found["metadata"] |= {"labels": {HOST: name, **(labels or {})}}
    return {**found, "status": {"allocatable": amounts, "capacity": amounts}}


def queue(name: str, limit: int, deserved: int = 0, *, state: str = "Open", **spec: Any) -> Data:
    own = {
        "weight": 1,
        "reclaimable": True,
        "capability": {"cpu": "1000", "memory": "4000Gi", GPU: str(limit)},
        "deserved": {"cpu": "500", "memory": "2000Gi", GPU: str(deserved)},
        **spec,
    }
    found = _object("scheduling.volcano.sh/v1beta1", "Queue", name, own)
    return {**found, "status": {"state": state}}


def _object(version: str, kind: str, name: str, spec: Data, namespace: str = "") -> Data:
    metadata = {"name": name, "uid": name, "creationTimestamp": CREATED.format(0)}
    own = {**metadata, "namespace": namespace} if namespace else metadata
    return {"apiVersion": version, "kind": kind, "metadata": own, "spec": spec}


def _nodes(r: random.Random, gpus: int, **more: Any) -> list[Data]:
    return [node(f"n{i}", gpus, **copy.deepcopy(more)) for i in range(r.randint(1, 4))]


def _too_large(r: random.Random) -> Drawn:
    gpus = r.choice([2, 4, 8])
    target = Gang(TARGET, "q", r.randint(1, 2), gpus + r.randint(1, gpus))
    return Drawn(("no-node-fits",), _nodes(r, gpus), [queue("q", 99)], target)


def _too_many(r: random.Random) -> Drawn:
    gpus = r.choice([4, 8])
    nodes = _nodes(r, gpus)
    return Drawn(
        ("no-node-fits",),
        nodes,
        [queue("q", 99)],
        Gang(TARGET, "q", len(nodes) + r.randint(1, 3), gpus),
    )


def _tainted(r: random.Random) -> Drawn:
    nodes = _nodes(r, 8, taints=[TAINT])
    return Drawn(("no-node-fits",), nodes, [queue("q", 99)], Gang(TARGET, "q", 1, r.randint(1, 8)))


def _selects(r: random.Random) -> Drawn:
    nodes = _nodes(r, 8, labels={"card": "a"})
    target = Gang(TARGET, "q", 1, r.randint(1, 8), spec={"nodeSelector": {"card": "b"}})
    return Drawn(("no-node-fits",), nodes, [queue("q", 99)], target)


def _cordoned(r: random.Random) -> Drawn:
    nodes = [node("n0", 8, unschedulable=True), node("n1", 1)]
    return Drawn(("no-node-fits",), nodes, [queue("q", 99)], Gang(TARGET, "q", 1, r.randint(2, 8)))


def _short_of_cpu(r: random.Random) -> Drawn:
    target = Gang(TARGET, "q", r.randint(1, 2), 1, cpu=r.randint(9, 30))
    return Drawn(("no-node-fits",), _nodes(r, 8, cpu=8), [queue("q", 99)], target)


def _full(r: random.Random) -> Drawn:
    """Jobs of the same queue hold the nodes."""
    nodes = _nodes(r, 8)
    holders = [Gang(f"h{i}", "q", 1, r.randint(5, 8)) for i in range(len(nodes))]
    target = Gang(TARGET, "q", r.randint(1, len(nodes)), r.randint(4, 8))
    return Drawn(("no-node-fits",), nodes, [queue("q", 99, 99)], target, holders)


def _full_of_others(r: random.Random) -> Drawn:
    """Jobs of a queue that deserves all that they hold."""
    nodes = _nodes(r, 8)
    holders = [Gang(f"h{i}", "r", 1, 8) for i in range(len(nodes))]
    queues = [queue("q", 99, 0), queue("r", 99, 8 * len(nodes))]
    return Drawn(("no-node-fits",), nodes, queues, Gang(TARGET, "q", 1, r.randint(1, 8)), holders)


def _above(r: random.Random) -> Drawn:
    limit = r.randint(1, 7)
    target = Gang(TARGET, "q", r.randint(1, 2), 1)
    target.gpus = limit + r.randint(1, 8 - limit)
    nodes = [node(f"n{i}", 8) for i in range(4)]
    return Drawn(
        ("volcano-above-limit",), nodes, [queue("q", limit)], target, configuration=r.choice(FORMS)
    )


def _limited(r: random.Random) -> Drawn:
    limit = r.randint(4, 12)
    held = r.randint(1, min(limit, 8))
    target = Gang(TARGET, "q", limit - held + 1, 1)
    target.pods = min(target.pods, limit)
    nodes = [node(f"n{i}", 8) for i in range(4)]
    holders = [Gang("h", "q", 1, held)]
    queues = [queue("q", limit, limit), queue("r", 16)]
    return Drawn(
        ("volcano-queue-full",), nodes, queues, target, holders, configuration=r.choice(FORMS)
    )


def _limited_above(r: random.Random) -> Drawn:
    limit = r.randint(2, 12)
    held = r.randint(1, min(limit, 8))
    queues = [
        queue("top", limit, limit), queue("q", limit, limit, parent="top"), queue("r", limit, limit, parent="top"),
    ]  # fmt: skip
    target = Gang(TARGET, "q", limit - held + 1, 1)
    nodes = [node(f"n{i}", 8) for i in range(4)]
    kinds = ("volcano-queue-full", "volcano-above-limit")
    return Drawn(kinds, nodes, queues, target, [Gang("h", "r", 1, held)], TREE)


def _closed(r: random.Random) -> Drawn:
    queues = [queue("q", 99, state="Closed"), *([queue("r", 99)] if r.random() < 0.5 else [])]
    target = Gang(TARGET, "q", 1, r.randint(1, 8))
    return Drawn(("volcano-queue-closed",), _nodes(r, 8), queues, target)


def _misspelt(r: random.Random) -> Drawn:
    target = Gang(TARGET, "trian", 1, r.randint(1, 8))
    return Drawn(("volcano-queue-missing",), _nodes(r, 8), [queue("train", 99)], target)


def _of_parent(r: random.Random) -> Drawn:
    queues = [queue("top", 99, 99), queue("q", 99, 99, parent="top")]
    target = Gang(TARGET, "top", 1, r.randint(1, 8))
    return Drawn(("volcano-queues-invalid",), _nodes(r, 8), queues, target, configuration=TREE)


def _incomplete(r: random.Random) -> Drawn:
    pods = r.randint(1, 3)
    target = Gang(TARGET, "q", pods, 1, least=pods + r.randint(1, 3))
    nodes = [node(f"n{i}", 8) for i in range(2)]
    return Drawn(
        ("gang-incomplete",),
        nodes,
        [queue("q", 99)],
        target,
        configuration=r.choice([LENDING, TREE]),
    )


def _overcommitted(r: random.Random) -> Drawn:
    """Jobs are enqueued for 1.2 times the GPUs, and those of another queue hold all GPUs."""
    nodes = _nodes(r, 10)
    holders = [Gang(f"h{i}", "r", 1, 10) for i in range(len(nodes))]
    target = Gang(TARGET, "q", r.randint(1, 3) + 2 * len(nodes), 1)
    queues = [queue("q", 99), queue("r", 99)]
    return Drawn(("volcano-overcommit",), nodes, queues, target, holders, OVERCOMMIT)


CAUSES: Sequence[Callable[[random.Random], Drawn]] = (
    _too_large, _too_many, _tainted, _selects, _cordoned, _short_of_cpu, _full, _full_of_others, _above,
    _limited, _limited_above, _closed, _misspelt, _of_parent, _incomplete, _overcommitted,
)  # fmt: skip


class Played:
    """Volcano's scheduler with jobs, whose controller creates pods of enqueued PodGroups."""

    def __init__(self, real: Real, drawn: Drawn) -> None:
        self.real = real
        self.configuration = drawn.configuration
        self.objects = {
            (it["kind"], it["metadata"]["name"]): it for it in (*drawn.nodes, *drawn.queues)
        }
        self.jobs: dict[str, Data] = {}
        self.groups: dict[str, Data] = {}
        self.pods: dict[str, Data] = {}

    def submit(self, job: Data) -> None:
        """Create a Job, and its PodGroup."""
        name, spec = job["metadata"]["name"], job["spec"]
        (task,) = spec["tasks"]
        (container,) = task["template"]["spec"]["containers"]
        least = spec["minAvailable"]
        counted = min(least, task["replicas"])
        amounts = {
            key: str(int(it) * counted) for key, it in container["resources"]["requests"].items()
        }
        metadata = {
            "name": name,
            "namespace": NAMESPACE,
            "uid": name,
            "creationTimestamp": CREATED.format(1 + len(self.groups)),
        }
        of_group = {
            "queue": spec["queue"],
            "minMember": least,
            "minTaskMember": {"main": task["replicas"]},
            "minResources": amounts,
        }
        if "priorityClassName" in spec:
            of_group["priorityClassName"] = spec["priorityClassName"]
        self.jobs[name] = job
        self.groups[name] = {"metadata": metadata, "spec": of_group, "status": {"phase": "Pending"}}

    def sessions(self, count: int = SESSIONS) -> None:
        """Run sessions; evicted pods are gone at once, and come again."""
        for _ in range(count):
            for name, group in self.groups.items():
                if group["status"]["phase"] != "Pending":
                    self._create(name)
            found = self.real.session(
                {
                    "configuration": yaml.safe_dump(self.configuration, sort_keys=False),
                    "nodes": [it for (kind, _), it in self.objects.items() if kind == "Node"],
                    "queues": [
                        *(it for (kind, _), it in self.objects.items() if kind == "Queue"),
                        _object("scheduling.volcano.sh/v1beta1", "Queue", "default", {"weight": 1})
                        | {"status": {"state": "Open"}},
                        _object(
                            "scheduling.volcano.sh/v1beta1", "Queue", "root", {"reclaimable": False}
                        )
                        | {"status": {"state": "Open"}},
                    ],
                    "priorityClasses": CLASSES,
                    "podGroups": [*self.groups.values()],
                    "pods": [*self.pods.values()],
                    "scores": False,
                }
            )
            self._apply(found)

    def _create(self, name: str) -> None:
        task = self.jobs[name]["spec"]["tasks"][0]
        for i in range(task["replicas"]):
            pod = f"{name}-main-{i}"
            if pod in self.pods:
                continue
            metadata = {
                "name": pod,
                "namespace": NAMESPACE,
                "uid": pod,
                "labels": {},
                "annotations": {
                    "scheduling.k8s.io/group-name": name,
                    "volcano.sh/task-spec": "main",
                },
                "creationTimestamp": CREATED.format(30),
            }
            spec = {
                **copy.deepcopy(task["template"]["spec"]),
                "schedulerName": "volcano",
                "priority": 0,
            }
            self.pods[pod] = {"metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}

    def _apply(self, found: Data) -> None:
        for changed in found["actions"]:
            for key, it in changed.items():
                name = key.partition("/")[2]
                if it["status"] == "Binding":
                    self.pods[name]["spec"]["nodeName"] = it["node"]
                    self.pods[name]["status"] = {"phase": "Running"}
                elif it["status"] == "Releasing":
                    del self.pods[name]
        for key, it in found["groups"].items():
            self.groups[key.partition("/")[2]]["status"]["phase"] = it["phase"]

    def nodes_of(self, name: str) -> tuple[str, ...]:
        """The nodes of the pods of a job; empty for those that have none."""
        own = (f"{name}-main-{i}" for i in range(self.jobs[name]["spec"]["tasks"][0]["replicas"]))
        return tuple(self.pods.get(it, {"spec": {}})["spec"].get("nodeName", "") for it in own)

    def started(self, name: str) -> bool:
        """Whether enough pods of a job have a node."""
        return sum(map(bool, self.nodes_of(name))) >= self.jobs[name]["spec"]["minAvailable"]

    def change(self, job: Data, remedy: Sequence[changes.Change]) -> Data:
        """Make the changes of a remedy; returns the job after them."""
        job = copy.deepcopy(job)
        for it in remedy:
            if isinstance(it, changes.FieldChange) and it.kind != "Job":
                key = it.kind, it.name
                self.objects[key] = changes.with_value(self.objects[key], it.path, it.after)
            elif isinstance(it, changes.FieldChange):
                job = changes.with_value(job, it.path, it.after)
            else:
                _change_pods(job["spec"]["tasks"][0]["template"]["spec"], it)
        return job


def _change_pods(pods: Data, it: changes.Change) -> None:
    match it:
        case changes.RequestChange(resource=resource, after=after):
            for part in pods["containers"][0]["resources"].values():
                part[resource] = shown(resource, after)
        case changes.TolerationAdded(toleration=one):
            written = {key: value for key, value in msgspec.to_builtins(one).items() if value}
            pods.setdefault("tolerations", []).append(written)
        case changes.SelectorChange(key=key, after=after):
            pods["nodeSelector"].pop(key)
            pods["nodeSelector"] |= {key: after} if after is not None else {}
        case _:
            raise AssertionError(it)


def explained(drawn: Drawn, nodes: Mapping[str, tuple[str, ...]]) -> Explanation:
    """What policygen explains of the target, if the holders run on these nodes."""
    gangs = [it.object for it in (*drawn.holders, drawn.target)]
    conf = {"apiVersion": "v1", "kind": "volcano-scheduler.conf", "metadata": {"name": "c"}}
    classes = [
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", **it} for it in CLASSES
    ]
    every = [*drawn.nodes, *drawn.queues, *classes, {**conf, **drawn.configuration}, *gangs]
    made = (Object.read(it, At(i)) for i, it in enumerate(every))
    cluster = Cluster(it for it in made if it is not None)
    assert not cluster.malformed
    scene = Scene(cluster, first(cluster, DEFAULT["kueue"]), cluster_nodes(cluster))
    jobs = [
        replace(it, at=-1.0, nodes=nodes[it.name.partition("/")[2]])
        if it.name.partition("/")[2] in nodes
        else it
        for it in arrivals(scene)
    ]
    explainer = Explainer(scene, jobs)
    return explainer.explain(*explainer.named(f"{NAMESPACE}/{TARGET}"))


@dataclass
class Outcome:
    """What a scene showed."""

    cause: str
    """Of the draw."""
    wrong: str = ""
    """A cause that is not right."""
    remedies: int = 0
    failed: list[str] = field(default_factory=list)
    """Those that did not start the target."""
    ends: bool = False
    """Whether policygen names what must end, without a change or after one."""


def outcomes(seed: int, count: int, remedies: int = REMEDIES) -> Iterator[Outcome]:
    """Draw scenes of each cause, and try the remedies of policygen on Volcano's scheduler."""
    real = Real()
    try:
        for draw in CAUSES:
            for i in range(count):
                yield _outcome(real, draw, random.Random(f"{draw.__name__} {seed} {i}"), remedies)
    finally:
        real.close()


def _outcome(
    real: Real, draw: Callable[[random.Random], Drawn], r: random.Random, remedies: int
) -> Outcome:
    drawn = draw(r)
    before = Played(real, drawn)
    for it in drawn.holders:
        before.submit(it.object)
    before.sessions()
    nodes = {it.name: before.nodes_of(it.name) for it in drawn.holders}
    waiting = copy.deepcopy(before.__dict__ | {"real": None})
    before.submit(drawn.target.object)
    before.sessions()
    outcome = Outcome(draw.__name__)
    found = explained(drawn, nodes)
    if before.started(TARGET):
        outcome.wrong = f"the target starts, why says {found.cause.kind.value}"
        return outcome
    if found.cause.kind.value not in drawn.kinds:
        outcome.wrong = f"{found.cause.kind.value}: {' '.join(cause_words.reasons(found))}"
    outcome.ends = bool(found.ends or found.later)
    for one in found.remedies[:remedies]:
        after = Played(real, drawn)
        after.__dict__ |= copy.deepcopy(waiting) | {"real": real}
        after.submit(after.change(drawn.target.object, one.changes))
        after.sessions()
        outcome.remedies += 1
        if not after.started(TARGET):
            outcome.failed.append(remedy_words.remedy(one.changes))
    return outcome


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    seen: Counter[str] = Counter()
    for it in outcomes(options.seed, options.count):
        seen.update(scenes=1, remedies=it.remedies, failed=len(it.failed), wrong=bool(it.wrong))
        seen[f"without a change: {it.cause}"] += not it.remedies
        seen[f"without any help: {it.cause}"] += not it.remedies and not it.ends
        for text in (it.wrong, *it.failed):
            if text:
                print(f"{it.cause}: {text}")
    print({name: number for name, number in seen.items() if number})


if __name__ == "__main__":
    main()
