"""Autoscalers that set the number of pods of a workload."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from policygen.core.finding import At
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import text
from policygen.kubernetes.workloads import Workload

NOT_SCALABLE = frozenset(
    {
        ("", "Pod"),
        ("apps", "DaemonSet"),
        ("batch", "CronJob"),
        ("batch", "Job"),
        ("batch.volcano.sh", "Job"),
        ("jobset.x-k8s.io", "JobSet"),
    }
)
"""Groups and kinds of workloads without a scale subresource, by which autoscalers set replicas."""


_SCALABLE = ("Deployment", "StatefulSet", "ReplicaSet", "LeaderWorkerSet")
"""The usual kinds of targets."""


class Autoscaler(Struct, frozen=True, eq=False):
    """A HorizontalPodAutoscaler or a ScaledObject of KEDA."""

    name: str
    """Kind and name, as in messages."""
    least: int
    """The minimum number of pods."""
    most: int
    """The maximum number of pods."""
    at: At
    """The place of the maximum."""
    field: str
    """The name of its field."""
    starts: bool = False
    """Whether it also scales a target with 0 replicas, as KEDA does."""

    def pods(self, replicas: int) -> int:
        """The number of pods that it makes of the replicas of its target: its minimum, if that is more.

        Source: pkg/controller/podautoscaler/horizontal.go of Kubernetes 1.36.3, ScalingDisabled;
        pkg/scaling/executor of KEDA 2.18.
        """
        return max(replicas, self.least) if replicas or self.starts else 0


def autoscalers(cluster: Cluster) -> Mapping[tuple[str, str, str], Autoscaler]:
    """The autoscaler of each target, by namespace, kind and name; use it with `cluster.derive`."""
    return dict(_autoscalers(cluster))


def autoscaler_of(cluster: Cluster, workload: Workload) -> Autoscaler | None:
    """The autoscaler of a workload; None without one."""
    found = cluster.derive(autoscalers)
    return found.get((workload.namespace, workload.kind, workload.name)) if found else None


def _autoscalers(cluster: Cluster) -> Iterator[tuple[tuple[str, str, str], Autoscaler]]:
    for hpa in cluster.horizontal_pod_autoscalers:
        at = hpa.at.to("spec", "maxReplicas")
        found = Autoscaler(str(hpa), *hpa.fields.bounds, at, "maxReplicas")
        for target in _targets(hpa.namespace, hpa.fields.scale_target_ref):
            yield target, found
    for scaled in cluster.scaled_objects:
        at = scaled.at.to("spec", "maxReplicaCount")
        found = Autoscaler(str(scaled), *scaled.fields.bounds, at, "maxReplicaCount", starts=True)
        for target in _targets(scaled.namespace, scaled.fields.target):
            yield target, found


def is_scalable(reference: Mapping[str, Any]) -> bool:
    """Whether the target of an autoscaler can have a scale subresource."""
    group = text(reference, "apiVersion").rpartition("/")[0]
    return (group, text(reference, "kind")) not in NOT_SCALABLE


def targets(cluster: Cluster) -> Iterator[tuple[Entry[Any], Mapping[str, Any]]]:
    """The autoscalers of pods, each with its target."""
    for hpa in cluster.horizontal_pod_autoscalers:
        yield hpa, hpa.fields.scale_target_ref
    for scaled in cluster.scaled_objects:
        yield scaled, scaled.fields.target


def _targets(namespace: str, reference: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The target; if its kind is invalid, every kind with this name, because each can be meant."""
    kind = text(reference, "kind")
    for it in (kind,) if kind else _SCALABLE:
        yield namespace, it, text(reference, "name")
