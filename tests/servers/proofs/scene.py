"""Examples of rule pages on the bench, side by side, each with names of its own.

    def test_flavor_missing(stage):
        bad, good = stage.both("flavor-missing")          # applied: the page's objects and nodes
        stage.send(bad.jobs(), good.jobs())               # a Job each, to the example's first queue
        stage.becomes("admitted", {bad: [], good: ["job-0"]}, Scene.admitted)
        assert bad.active("ClusterQueue", "vision.a100") == "FlavorNotFound"

A scene takes and returns names as its page has them. On the server, the rule's name is a suffix of
namespaces, of names of cluster-scoped objects, and of the values of node labels. So one scene does
not affect another.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tests.examples_of_rules import examples
from tests.servers.client import Client, Object
from tests.servers.cluster import KUEUE, Cluster, gpus, holds, owner
from tests.servers.nodes import Shape
from tests.servers.pages import bad, good
from tests.servers.proofs.examples import apply, conditions, documents, shape
from tests.servers.workloads import GPU, VOLCANO_QUEUE, Ask, job

USUAL = Ask(gpus=1, cpu="8", memory="64Gi")
"""The default request of a Job of these pages."""
QUEUE_NAMESPACE = "kubernetes.io/metadata.name"
SERVERS_OWN = frozenset({"kube-system", "kueue-system", "default", "root", ""})
"""Names that keep their meaning."""
REFERENCES = frozenset(
    {
        "clusterQueue", "cohortName", "namespace", "onFlavors", "parent", "parentName",
        "priorityClassName", "queue", "topologyName", QUEUE_NAMESPACE,
        "kueue.x-k8s.io/priority-class", VOLCANO_QUEUE,
    }
)  # fmt: skip
"""Fields, labels and lists whose texts are names."""
NAMED = frozenset({"admissionChecks", "flavors", "parameters"})
"""Fields whose `name` is that of another object."""
NODE_LABELS = frozenset({"nodeLabels", "nodeSelector"})
PROGRAMS = frozenset({"Configuration", "KubeSchedulerConfiguration"})
"""Kinds of files, which no API server knows."""


class Scene:
    """The objects of one example, and what became of them."""

    def __init__(self, cluster: Cluster, text: str, tag: str) -> None:
        self.cluster, self.tag = cluster, tag
        things = documents(text)
        self.configuration: Object | None = next(
            (thing for thing in things if thing["kind"] in PROGRAMS), None
        )
        """A program's file among the objects, as the page has it."""
        self.things = [
            _renamed(thing, tag, cluster.client)
            for thing in things
            if thing["kind"] not in PROGRAMS
        ]
        self.queues = [
            (thing["metadata"]["namespace"], thing["metadata"]["name"])
            for thing in things
            if thing["kind"] == "LocalQueue"
        ]

    def __repr__(self) -> str:
        return self.tag

    def of(self, name: str) -> str:
        """What a name of the page is on the server."""
        return _own(name, self.tag)

    def has(self, kind: str) -> bool:
        """Whether the page has an object of a kind."""
        return any(thing["kind"] == kind for thing in self.things)

    def page(self, name: str) -> str:
        """What a name on the server is on the page; nodes that were added count from 0."""
        head, _, tail = name.partition(f"-{self.tag}")
        return head + tail

    # What to make

    def nodes(
        self, count: int = 1, *, prefix: str = "node", labels: Mapping[str, str], **shape: Any
    ) -> dict[str, Shape]:
        """More nodes than the page has, for `Stage.add`; the values of their labels are the page's."""
        own = {key: self.of(value) for key, value in labels.items()}
        return {f"{self.of(prefix)}-{i}": Shape(labels=own, **shape) for i in range(count)}

    def jobs(
        self,
        count: int = 1,
        ask: Ask = USUAL,
        *,
        prefix: str = "job",
        namespace: str | None = None,
        queue: str | None = None,
        priority: str | None = None,
        pods: int = 1,
    ) -> list[Object]:
        """Jobs PREFIX-0, PREFIX-1 and so on, by default for the page's first LocalQueue."""
        place, name = next(each for each in self.queues if namespace in {None, each[0]})
        made = (
            job(
                f"{prefix}-{i}", place, ask, queue=queue or name, kueue_priority=priority, pods=pods
            )
            for i in range(count)
        )
        return [_renamed(thing, self.tag, self.cluster.client) for thing in made]

    # Looking

    def workloads(self, namespace: str | None = None) -> list[Object]:
        """Kueue's Workloads in a namespace, by default that of the first LocalQueue."""
        return self.cluster.objects(KUEUE, "Workload", self._place(namespace))

    def admitted(self, namespace: str | None = None) -> list[str]:
        """Names of Jobs that Kueue has admitted."""
        return self.cluster.admitted(self._place(namespace))

    def held(self, namespace: str | None = None) -> int:
        """How many Kueue has admitted."""
        return len(self.admitted(namespace))

    def messages(self, namespace: str | None = None) -> str:
        """The messages of all conditions of the Workloads."""
        return "\n".join(
            condition["message"]
            for workload in self.workloads(namespace)
            for condition in workload.get("status", {}).get("conditions", [])
        )

    def flavors(self, namespace: str | None = None, resource: str = GPU) -> dict[str, str]:
        """The flavor that each admitted Job's resource is charged to."""
        return {
            owner(workload): self.page(
                workload["status"]["admission"]["podSetAssignments"][0]["flavors"][resource]
            )
            for workload in self.workloads(namespace)
            if holds(workload, "Admitted")
        }

    def pods(self, namespace: str | None = None) -> list[Object]:
        """Pods that have not ended."""
        return self.cluster.pods(self._place(namespace))

    def bound(self, namespace: str | None = None) -> int:
        """GPUs of pods that are on a node."""
        return self.cluster.bound(self._place(namespace))

    def waiting(self, namespace: str | None = None) -> int:
        """Pods that are on no node."""
        return len(self.cluster.waiting(self._place(namespace)))

    def nodes_of(self, namespace: str | None = None) -> list[str]:
        """The node of each pod that is on one."""
        return sorted(
            self.page(pod["spec"]["nodeName"])
            for pod in self.pods(namespace)
            if "nodeName" in pod["spec"] and gpus(pod)
        )

    def active(self, kind: str, name: str, namespace: str | None = None) -> str | None:
        """The reason of a queue's condition Active; None if the condition is missing."""
        place = self._place(namespace) if kind == "LocalQueue" else None
        name = name if kind == "LocalQueue" else self.of(name)
        found = conditions(self.cluster.get(KUEUE, kind, name, place)).get("Active")
        return found and str(found["reason"])

    def _place(self, namespace: str | None) -> str:
        return self.of(namespace or self.queues[0][0])


class Stage:
    """Scenes that share one control plane at the same time."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    def both(self, rule: str, number: int = 0, *, fixed: int | None = None) -> tuple[Scene, Scene]:
        """A bad example of a rule and a good one, applied: the good example `fixed`, if it is given."""
        found = self.pair(rule, number, number if fixed is None else fixed)
        self.put(*found)
        return found

    def all(
        self, examples: Iterable[tuple[str, int]]
    ) -> dict[tuple[str, int], tuple[Scene, Scene]]:
        """Those of several pages, all at once: rule and number of the example."""
        found = {(rule, number): self.pair(rule, number, number) for rule, number in examples}
        self.put(*(scene for each in found.values() for scene in each))
        return found

    def pair(self, rule: str, number: int = 0, fixed: int = 0) -> tuple[Scene, Scene]:
        """The same as `both`, but not applied."""
        return (
            Scene(self.cluster, bad(rule, number), f"{rule}-bad-{number}"),
            Scene(self.cluster, _good(rule, fixed), f"{rule}-good-{fixed}"),
        )

    def put(self, *scenes: Scene) -> None:
        """Apply their objects, nodes first, those of one kind at once."""
        things = [thing for scene in scenes for thing in scene.things]
        self.add({it["metadata"]["name"]: shape(it) for it in things if it["kind"] == "Node"})
        apply(self.cluster, (thing for thing in things if thing["kind"] != "Node"))

    def add(self, *nodes: Mapping[str, Shape]) -> None:
        """Add nodes, all at once; schedulers can use them when it returns."""
        if found := {name: shape for some in nodes for name, shape in some.items()}:
            self.cluster.add_named_nodes(found)

    def send(self, *jobs: Iterable[Object]) -> None:
        """Submit Jobs, all at once."""
        self.cluster.create(*(each for some in jobs for each in some))

    def next_second(self) -> None:
        """Wait for the server's next second: what is created in one has no order."""
        time.sleep(1 - time.time() % 1)

    def becomes(
        self, what: str, want: dict[Scene, Any], read: Callable[[Scene], Any], **more: float
    ) -> None:
        """Wait until each scene has its expected value."""
        self.cluster.becomes(what, lambda: self._read(want, read), want, **more)

    def stays(
        self, what: str, want: dict[Scene, Any], read: Callable[[Scene], Any], for_s: float = 0.5
    ) -> None:
        """Check that each scene has its expected value, and keeps it."""
        self.cluster.stays(what, lambda: self._read(want, read), want, for_s)

    def _read(self, scenes: Iterable[Scene], read: Callable[[Scene], Any]) -> dict[Scene, Any]:
        glance = Glance(self.cluster)
        found = {}
        for scene in scenes:
            scene.cluster = glance
            found[scene] = read(scene)
            scene.cluster = self.cluster
        return found


class Glance(Cluster):
    """The cluster at one moment: each kind is listed once for all namespaces."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster.bench)
        self._listed: dict[str, list[Object]] = {}

    def objects(self, api_version: str, kind: str, namespace: str | None = None) -> list[Object]:
        if kind not in self._listed:
            self._listed[kind] = super().objects(api_version, kind)
        return [
            thing
            for thing in self._listed[kind]
            if namespace in {None, thing["metadata"].get("namespace")}
        ]


def part(wanted: str, text: str) -> str:
    """The expected part if the text contains it; else the text, for the message of a failure."""
    return wanted if wanted in text else text


def _good(rule: str, number: int) -> str:
    """The good example with this number, or the first: one example may fix several bad ones."""
    return good(rule, number if number < len(examples(rule, good=True)) else 0)


def _renamed(thing: Object, tag: str, client: Client) -> Object:
    """The same object under its scene's names."""
    made: Object = _walk(thing, "", tag)
    if not client.resource(made["apiVersion"], made["kind"]).namespaced:
        made["metadata"]["name"] = _own(made["metadata"]["name"], tag)
    if made["kind"] == "Node":
        labels = made["metadata"].get("labels", {})
        made["metadata"]["labels"] = {key: _own(value, tag) for key, value in labels.items()}
    return made


def _walk(value: Any, field: str, tag: str) -> Any:
    """The value with this scene's names; `field` is the key of the value, or of the list around it."""
    if isinstance(value, dict):
        if field in NODE_LABELS:
            return {key: _own(each, tag) for key, each in value.items()}
        return {
            key: _own(each, tag) if key == "name" and field in NAMED else _walk(each, key, tag)
            for key, each in value.items()
        }
    if isinstance(value, list):
        return [_walk(each, field, tag) for each in value]
    return _own(value, tag) if field in REFERENCES and isinstance(value, str) else value


def _own(name: str, tag: str) -> str:
    kept = name in SERVERS_OWN or name.startswith("system-")
    return name if kept else f"{name}-{tag}"
