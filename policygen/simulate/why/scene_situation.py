"""The queues and workloads of a scene, as trials of Kueue's decisions begin with them."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice

from msgspec.structs import replace

from policygen.core.finding import At
from policygen.core.names import NAMESPACE_NAME
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue_workloads import PodSetTemplate, PodSetView, WorkloadView
from policygen.kubernetes.object import Object
from policygen.simulate.arrival import Arrival
from policygen.simulate.kueue.build import pairs_of
from policygen.simulate.kueue.workload import QueuedWorkload
from policygen.simulate.scene import Scene
from policygen.simulate.scene_schedulers import strategies, topology_nodes
from policygen.simulate.why.situation import AskedWorkload, Settled, Situation, policy_objects

_QUEUES = 5
"""The most ClusterQueues that are tried for a workload whose namespace has no LocalQueue."""


class SceneQueues:
    """The queues for all workloads of a scene; each situation is computed once."""

    def __init__(self, scene: Scene, arrivals: Sequence[Arrival]) -> None:
        self._scene = scene
        self._arrivals = arrivals
        self._situation: Situation | None = None
        self._near: dict[tuple[frozenset[str], str], tuple[Situation, Settled]] = {}

    def around(self, asked: AskedWorkload) -> tuple[Situation, Settled]:
        """The trees of all queues of its namespace, after all that can be admitted was admitted."""
        cluster = self._scene.cluster
        queues = frozenset(
            it.fields.cluster_queue
            for it in cluster.local_queues.by_namespace.get(asked.namespace, ())
            if cluster.cluster_queues.knows(it.fields.cluster_queue)
        )
        if not queues:
            open_ = selecting_queues(cluster, asked.namespace)
            queues = frozenset(islice(open_, _QUEUES))
        key = queues, asked.namespace
        if key not in self._near:
            near = self._all().around(sorted(queues), asked.namespace)
            settled = near.settle(keep=True)
            self._near[key] = near.going_on(settled), settled
        return self._near[key]

    def _all(self) -> Situation:
        if self._situation is None:
            self._situation = situation(self._scene, self._arrivals)
        return self._situation


def situation(scene: Scene, arrivals: Iterable[Arrival]) -> Situation:
    """The queues of a scene, with all workloads that Kueue manages."""
    arrivals = tuple(arrivals)
    objects = _with_namespaces(scene, {it.name.partition("/")[0] for it in arrivals})
    chosen = strategies(scene.settings)
    held: dict[str, list[QueuedWorkload]] = {}
    pending = []
    for it in arrivals:
        workload = it.workload
        if workload is None or it.refusal:
            continue
        if workload.admission is None:
            pending.append(workload)
            continue
        namespace, _, name = workload.queue.partition("/")
        entry = scene.cluster.local_queues.get(name, namespace)
        if entry is not None:
            held.setdefault(entry.fields.cluster_queue, []).append(workload)
    pairs = tuple(pairs_of(scene.cluster))
    fixed = {queue: tuple(them) for queue, them in held.items()}
    nodes, used = topology_nodes(scene, arrivals)
    return Situation(
        objects, scene.settings, chosen, pairs, fixed, tuple(pending), nodes=nodes, used=used
    )


def _with_namespaces(scene: Scene, named: Collection[str]) -> tuple[Object, ...]:
    """The policy objects. Namespaces of manifests get the label that the API server writes."""
    found = policy_objects(scene.cluster)
    if scene.cluster.seen is not None:
        return found
    known = {it.name for it in found if it.kind == "Namespace"}
    named = {*named, *(it.namespace for it in found if it.kind == "LocalQueue")} - known
    missing = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": it}} for it in sorted(named)
    ]
    made = (Object.read(it, At(-1)) for it in missing)
    every = (*found, *(it for it in made if it is not None))
    return tuple(_labelled(it) if it.kind == "Namespace" else it for it in every)


def _labelled(it: Object) -> Object:
    metadata = dict(it.data.get("metadata") or {})
    metadata["labels"] = {NAMESPACE_NAME: it.name, **it.labels}
    return replace(it, data={**it.data, "metadata": metadata})


def asked_workload(arrival: Arrival, workload: QueuedWorkload, scene: Scene) -> AskedWorkload:
    """What the owner of a workload wrote."""
    fewest = {it.name: it.min_count for it in workload.pod_sets}
    sets = tuple(
        PodSetView(it.name, it.count, fewest.get(it.name), PodSetTemplate(it.spec))
        for it in arrival.pods
    )
    namespace, _, name = workload.name.partition("/")
    entry = scene.cluster.kueue_workloads.get(name, namespace)
    active = entry.fields.active if entry else workload.active
    queue = workload.queue.partition("/")[2]
    fields = WorkloadView(queue, workload.priority, sets, active)
    shrinks = (
        arrival.kind == "Job" and not arrival.elastic and scene.settings.gate("PartialAdmission")
    )
    topologies = {it.name: it.topology for it in workload.pod_sets if it.topology is not None}
    return AskedWorkload(
        workload.name,
        arrival.kind,
        fields,
        workload.uid,
        workload.queued,
        shrinks,
        topologies=topologies,
    )


def selecting_queues(cluster: Cluster, namespace: str) -> Iterator[str]:
    """The ClusterQueues that select a namespace."""
    entry = cluster.namespaces.get(namespace)
    labels = {NAMESPACE_NAME: namespace, **(entry.labels if entry is not None else {})}
    for it in cluster.cluster_queues:
        selector = it.fields.namespace_selector
        if selector is not None and selector.selects(labels):
            yield it.name
