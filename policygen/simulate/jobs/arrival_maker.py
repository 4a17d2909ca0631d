"""Makes jobs of objects: their pods, times and priorities."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property

from policygen.core import durations
from policygen.kubernetes import priorities
from policygen.kubernetes.cluster import KUEUE
from policygen.kubernetes.conditions import created as creation
from policygen.kubernetes.core import LabelSelector
from policygen.kubernetes.kueue_jobs import ELASTIC, EQUAL_COMPLETIONS
from policygen.kubernetes.kueue_requests import adjusted
from policygen.kubernetes.kueue_workloads import PodSetView
from policygen.kubernetes.node_groups import NodeSet
from policygen.kubernetes.node_index import NodeIndex
from policygen.kubernetes.object import Object
from policygen.kubernetes.schedulers import meant_scheduler
from policygen.kubernetes.untyped import integer, mapping, text
from policygen.kubernetes.workloads import Workload
from policygen.plan.model_names import MODEL
from policygen.simulate.arrival import MOST_PODS, Arrival, GangSettings, PodBatch
from policygen.simulate.input_faults import ARRIVES_AFTER, RUNS_FOR
from policygen.simulate.jobs.object_keys import ObjectKey, key_of
from policygen.simulate.kueue.workload import QueuedWorkload
from policygen.simulate.scene import Scene, implied_names, names_other_nodes

_NAMED_NODES = "its pods name a node, and a spec does not have the names of nodes; pass a snapshot or manifests of nodes"
SERVES = frozenset(
    {
        "DaemonSet", "Deployment", "LeaderWorkerSet", "RayCluster", "RayService", "ReplicaSet",
        "ReplicationController", "Rollout", "StatefulSet",
    }
)  # fmt: skip
"""Kinds whose pods run until they are deleted."""

_BACKOFF_LIMIT = 6
"""The default of a Job."""


class ArrivalMaker:
    """Makes jobs of a scene."""

    def __init__(self, scene: Scene, default_duration: float | None) -> None:
        self.scene, self.cluster = scene, scene.cluster
        self._default_duration = default_duration
        self._taken = scene.cluster.seen.taken if scene.cluster.seen else None
        self._implied = implied_names(scene)
        self._sources = {key_of(it.object): it for it in scene.cluster.workloads}

    @cached_property
    def index(self) -> NodeIndex:
        """The indexes of the nodes."""
        return NodeIndex(NodeSet(self.scene.nodes))

    def source(self, key: ObjectKey | None) -> Workload | None:
        """The object with a pod template of a key; None: it was not read."""
        return None if key is None else self._sources.get(key)

    def misspelt(self, source: Workload | None) -> str:
        """The misspelled scheduler that pods of an object name; empty: they name none."""
        if source is None:
            return ""
        names = (source.scheduler_name(it) for it in source.templates if not it.spec.node_name)
        return next((it for it in names if meant_scheduler(self.cluster, it)), "")

    def batch(
        self,
        pod_set: PodSetView,
        namespace: str,
        labels: Mapping[str, str],
        selector: LabelSelector | None = None,
    ) -> PodBatch:
        """The pods of a pod set. `selector` spreads them by default."""
        spec = adjusted(self.cluster, pod_set.template.spec, namespace)
        gates = other_gates(text(it, "name") for it in spec.scheduling_gates)
        return PodBatch(pod_set.name, pod_set.count, spec, labels, selector, gates)

    def arrival(  # noqa: PLR0913 - all that is known of a job
        self,
        name: str,
        source: Object,
        workload: QueuedWorkload | None,
        pods: tuple[PodBatch, ...],
        *,
        kind: str,
        at: float,
        nodes: tuple[str, ...] = (),
        created: int = 0,
        refusal: str = "",
        unknown: bool = False,
        unscheduled: str = "",
        gang: GangSettings | None = None,
        unmodelled: tuple[str, ...] = (),
        asks_topology: bool = False,
        passes_by: str = "",
    ) -> Arrival:
        """A job. `source` is the object that users created."""
        of_pods = pods[0].spec.priority_class_name if pods else ""
        priority = priorities.of_class(self.cluster, of_pods)
        class_ = priorities.class_of(self.cluster, of_pods)
        duration = self._duration(source, kind, pods)
        if not refusal and any(names_other_nodes(self._implied, it.spec) for it in pods):
            refusal, unknown = _NAMED_NODES, True
        count = sum(it.count for it in pods)
        if not refusal and count > MOST_PODS:
            refusal = (
                f"it has {count:,} pods, and a simulation creates at most {MOST_PODS:,} of a job"
            )
            unknown, pods = True, ()
        return Arrival(
            name=name,
            kind=kind,
            team=self.scene.team(name.partition("/")[0]),
            at=at,
            duration=duration,
            workload=workload,
            pods=pods,
            priority=priority or 0,
            preempts=class_ is None or class_.fields.preemption_policy != "Never",
            nodes=nodes,
            created=created,
            refusal=refusal,
            unknown=unknown,
            unscheduled="" if any(nodes) else unscheduled,
            gang=gang,
            retries=_retries(source, kind),
            unmodelled=unmodelled,
            completions=_completions(source),
            elastic=source.annotations.get(ELASTIC) == "true",
            model=source.labels.get(MODEL, ""),
            asks_topology=asks_topology,
            passes_by=passes_by,
            assumed=duration is not None and _time_of(source, RUNS_FOR) is None,
        )

    def _duration(self, source: Object, kind: str, pods: Sequence[PodBatch]) -> float | None:
        written = _time_of(source, RUNS_FOR)
        if written is not None:
            return written
        always = kind == "Pod" and any(it.spec.restart_policy in ("", "Always") for it in pods)
        return None if kind in SERVES or always else self._default_duration

    def arrives(self, object_: Object) -> float:
        """When an object is created; without an annotation at the start."""
        written = _time_of(object_, ARRIVES_AFTER)
        if written is not None:
            return written
        return min(self.time(creation(object_)), 0.0)

    def time(self, at: datetime | None) -> float:
        """A time in seconds from the start; 0 if it, or the time of the snapshot, is not known."""
        return (
            (at - self._taken).total_seconds()
            if at is not None and self._taken is not None
            else 0.0
        )


def other_gates(names: Iterable[str]) -> tuple[str, ...]:
    """The scheduling gates that Kueue does not remove."""
    return tuple(sorted(it for it in names if not it.startswith(f"{KUEUE}/")))


def _completions(source: Object) -> int | None:
    """How many pods of a Job must end; None: it is another object, or Kueue changes the number.

    Source: syncCompletionWithParallelism in pkg/controller/jobs/job of Kueue 0.19.2.
    """
    if (source.group, source.kind) != ("batch", "Job"):
        return None
    if source.annotations.get(EQUAL_COMPLETIONS, "").lower() == "true":
        return None
    return integer(mapping(source.data, "spec").get("completions"))


def _time_of(object_: Object, annotation: str) -> float | None:
    """The seconds in an annotation; None: it has none. `input_faults` reports invalid ones."""
    found = durations.written(object_.annotations.get(annotation))
    return float(found) if found is not None and found >= 0 else None


def _retries(source: Object, kind: str) -> int | None:
    """The backoffLimit of a Job; a Pod has no controller. Source: pkg/apis/batch/v1/defaults.go."""
    if kind != "Job":
        return 0 if kind == "Pod" else None
    limit = integer(mapping(source.data, "spec").get("backoffLimit"))
    return _BACKOFF_LIMIT if limit is None else limit
