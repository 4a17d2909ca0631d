"""Examples of rule pages before Volcano's scheduler, which gets each example's configuration at once.

    def test_queue_limit(volcano):
        for example, gpus in ((bad("capability-without-gpu"), 16), (good(...), 0)):
            with volcano.scene(example):                     # applied, and its configuration loaded
                volcano.create(*group("g", "vision", queue="batch", pods=16))
                volcano.becomes("GPUs", lambda: volcano.bound("vision"), gpus)
                volcano.sessions()                           # and nothing more comes

One scheduler serves all scenes of a module, with some sessions a second. Its nodes stay from scene to
scene: CORES, MEMORY and GPUS each.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import yaml

from tests.servers.client import Object
from tests.servers.cluster import DEADLINE_S, Cluster
from tests.servers.nodes import Shape
from tests.servers.process import Process
from tests.servers.proofs.examples import documents, shape
from tests.servers.slate import Slate
from tests.servers.upstream import VOLCANO
from tests.servers.volcano import CONFIGURATION
from tests.servers.workloads import VOLCANO_GROUP, VOLCANO_QUEUE, Ask, deployment, pod, pod_group

ONE = Ask(gpus=1)
PERIOD = "50ms"
"""Between two scheduling sessions; Volcano's default is a second."""
CORES, MEMORY, GPUS = "64", "512Gi", 8
NODE = Shape(gpus=GPUS, cpu=CORES, memory=MEMORY)
HELD = 'actions: "backfill"\ntiers: []\n'
"""A configuration that starts only pods without requests."""
SHARES = """
actions: "allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
  - name: capacity
- plugins:
  - name: predicates
"""
"""For examples without a configuration: gangs, and the limits of queues."""
QUEUE = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {{name: {name}}}
spec: {spec}
"""
SHOWN = (
    "deployments", "hypernodes", "jobs", "nodes", "podgroups", "pods", "priorityclasses", "queues",
    "replicasets", "resourcequotas", "services", "statefulsets",
)  # fmt: skip
"""What a scene may hold; with namespaces and the rest it takes five times as long to clear away."""
SESSION = b"] Open Session "
LOADED = b"] Finished loading scheduler config"
"""Lines of its log."""
POLL_S = 0.02
ROLE = "volcano.sh/task-spec"
OTHERS = "others"
"""The namespace of fillers."""
NUMBERS = itertools.count()
"""Of fillers, for their names: kwok, late with an old pod, may delete the new one of its name."""
SOME = 5
"""So many sessions show that something does not happen."""


class Volcano(Cluster):
    """A cluster whose Volcano scheduler changes its configuration while it runs."""

    def __init__(self, cluster: Cluster, process: Process, file: Path) -> None:
        super().__init__(cluster.bench)
        self._process, self._file = process, file
        self._slate = Slate(self.client, self.bench.etcd, SHOWN)
        self._config = HELD
        self._counts = dict.fromkeys((SESSION, LOADED), 0)
        self._read = 0
        """So many bytes of the log."""

    @contextmanager
    def scene(self, text: str = "", config: str = SHARES) -> Iterator[None]:
        """Removes all its objects at the end. With a text, it first does what `show` does."""
        try:
            if text:
                self.show(text, config)
            yield
        finally:
            if "enableHierarchy" in self._config:
                self.hold()  # else it goes on writing into the queue `root`
            self._slate.clean()

    def show(self, text: str, config: str = SHARES) -> None:
        """Load the example's configuration, by default `config`, and apply its objects."""
        configs, nodes, rest = split(text)
        self._config = yaml.safe_dump(configs[0]) if configs else config
        self.load(self._config)
        for node in nodes:
            self.add_node(node)
        if rest:
            self.apply(yaml.safe_dump_all(rest))

    def hold(self) -> None:
        """Place nothing until `resume`: one session shall see all that is made meanwhile."""
        self.load(HELD)

    def resume(self) -> None:
        self.load(self._config)

    def load(self, config: str) -> None:
        """The next session has this configuration."""
        before = self._count(LOADED)
        mine = self._file.parent.with_suffix(".next")
        mine.write_text(config, encoding="utf-8")
        mine.replace(self._file)  # it may read the file at any moment
        self._wait(LOADED, before + 1)
        self._wait(SESSION, self._count(SESSION) + 1)

    def sessions(self, count: int = SOME) -> None:
        """Wait for so many sessions, from beginning to end."""
        self._wait(SESSION, self._count(SESSION) + count + 1)

    def add_node(self, node: Object) -> None:
        """A page's Node, with room for pods."""
        self.add_nodes(shape(node), prefix=node["metadata"]["name"])

    @property
    def shipped(self) -> str:
        """The configuration that Volcano's chart installs."""
        file = self.bench.built[VOLCANO.name].asset(CONFIGURATION)
        return file.read_text(encoding="utf-8")

    def fill(self, node: str, gpus: int, priority: str | None = None) -> str:
        """Take so many GPUs of a node by a pod that no scheduler places; returns its name."""
        made = pod(f"filler-{next(NUMBERS)}", OTHERS, Ask(gpus=gpus, priority=priority))
        made["spec"]["nodeName"] = node
        self.create(made)
        return str(made["metadata"]["name"])

    def log(self) -> str:
        """All that the scheduler has logged."""
        return self._process.log.read_text(encoding="utf-8", errors="replace")

    def _count(self, line: bytes) -> int:
        """How many such lines its log has by now."""
        with self._process.log.open("rb") as log:
            log.seek(self._read)
            lines = log.read().splitlines(keepends=True)
        for each in lines:
            if each.endswith(b"\n"):
                self._read += len(each)
                for known in self._counts:
                    self._counts[known] += known in each
        return self._counts[line]

    def _wait(self, line: bytes, count: int) -> None:
        end = time.monotonic() + DEADLINE_S
        while (found := self._count(line)) < count:
            self.check_alive()
            assert time.monotonic() < end, f"{line!r} {found} times and not {count}"
            time.sleep(POLL_S)


def split(text: str) -> tuple[list[Object], list[Object], list[Object]]:
    """An example's configurations, its Nodes, and the rest."""
    configs, nodes, rest = [], [], []
    for thing in documents(text):
        if "tiers" in thing:
            configs.append(thing)
        elif thing["kind"] == "Node":
            nodes.append(thing)
        else:
            rest.append(thing)
    return configs, nodes, rest


def members(
    group: str, namespace: str, count: int, ask: Ask, *, first: int = 0, role: str | None = None
) -> list[Object]:
    """Pods of a PodGroup: GROUP-0 and so on."""
    mine = {**ask.annotations, VOLCANO_GROUP: group, **({ROLE: role} if role else {})}
    own = replace(ask, annotations=mine, scheduler="volcano")
    return [pod(f"{group}-{first + i}", namespace, own) for i in range(count)]


def group(
    name: str,
    namespace: str,
    *,
    queue: str,
    pods: int,
    ask: Ask = ONE,
    minimum: int = 1,
    min_resources: Mapping[str, str] | None = None,
    priority: str | None = None,
) -> list[Object]:
    """A PodGroup and its pods, which start one by one unless `minimum` is set."""
    head = pod_group(
        name,
        namespace,
        queue=queue,
        min_member=minimum,
        min_resources=min_resources,
        priority=priority,
    )
    return [head, *members(name, namespace, pods, ask)]


def replaced(name: str, namespace: str, *, queue: str, pods: int, ask: Ask = ONE) -> Object:
    """A Deployment: its pods start one by one, and new ones replace evicted ones.

    Volcano may evict a pod too many: it changes the status of a victim before it deletes the victim, and a
    session between the two counts the victim as running (cache.go, defaultEvictor.Evict). So the
    number of GPUs in use is certain only when a new pod has taken what is then free.
    """
    own = replace(ask, annotations={**ask.annotations, VOLCANO_QUEUE: queue}, scheduler="volcano")
    return deployment(name, namespace, own, replicas=pods)
