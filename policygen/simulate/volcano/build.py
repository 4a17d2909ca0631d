"""Volcano's queues, nodes, jobs and pods from objects."""

from collections.abc import Iterable, Mapping

from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.node_groups import Node
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import mapping, text
from policygen.kubernetes.volcano import QueueView
from policygen.kubernetes.workloads import PodSpec
from policygen.simulate.placement.shape import PodShape
from policygen.simulate.volcano.amounts import PODS, counted
from policygen.simulate.volcano.capacity import ROOT
from policygen.simulate.volcano.job import VolcanoTask
from policygen.simulate.volcano.settings import BUILT_IN, SchedulerSettings, settings_of
from policygen.simulate.volcano.state import VolcanoQueue, VolcanoState

DEFAULT_QUEUE = "default"
_PREEMPTABLE = "volcano.sh/preemptable"
_ROLE = "volcano.sh/task-spec"
_TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_SYSTEM = "kube-system"
_CRITICAL = ("system-cluster-critical", "system-node-critical")


def scheduler_settings(cluster: Cluster) -> SchedulerSettings:
    """The settings of the first volcano-scheduler.conf; the built-in ones if there is none."""
    for entry in cluster.volcano_configurations:
        return settings_of(entry.object.data)
    return BUILT_IN


def volcano_state(cluster: Cluster, nodes: Iterable[Node]) -> VolcanoState:
    """The queues of a cluster, and nodes."""
    return VolcanoState(nodes, volcano_queues(cluster))


def volcano_queues(cluster: Cluster) -> list[VolcanoQueue]:
    """The queues of a cluster. Volcano's scheduler creates the queues root and default."""
    queues = [queue_of(it) for it in cluster.queues]
    known = {it.name for it in queues}
    if ROOT not in known:
        queues.append(VolcanoQueue(ROOT, reclaimable=False))
    if DEFAULT_QUEUE not in known:
        queues.append(VolcanoQueue(DEFAULT_QUEUE))
    return queues


def queue_of(entry: Entry[QueueView], created: float = 0.0) -> VolcanoQueue:
    """A queue. Only a server knows that it is closed."""
    view = entry.fields
    return VolcanoQueue(
        entry.object.name,
        weight=view.weight,
        priority=view.priority,
        parent=view.parent,
        capability=counted(view.capability) if view.capability else None,
        deserved=counted(view.deserved),
        guarantee=counted(view.guarantee.resource),
        reclaimable=view.reclaimable,
        open=text(mapping(entry.object.data, "status"), "state") in ("", "Open"),
        created=created,
    )


def task_of(
    name: str,
    shape: PodShape,
    spec: PodSpec,
    annotations: Mapping[str, str],
    requests: Mapping[str, float] | None = None,
) -> VolcanoTask:
    """A pod of this spec. `name` is its namespace and name. The caller sets its priority.

    `requests` are those of the spec, if they are counted already.
    """
    marks = {**shape.labels, **annotations}
    return VolcanoTask(
        name,
        uid=name,
        shape=shape,
        requests={**(counted(spec.requests) if requests is None else requests), PODS: 1},
        role=marks.get(_ROLE, ""),
        preemptable=marks.get(_PREEMPTABLE, "true") in _TRUE,
        protected=name.startswith(f"{_SYSTEM}/") or spec.priority_class_name in _CRITICAL,
    )
