"""Workloads as webhooks see them: the object itself, or the Job that a CronJob creates."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from policygen.core.finding import At
from policygen.core.names import KEYED_METADATA
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.untyped import integer, keyed_texts, mapping
from policygen.kubernetes.workloads import Workload


class WebhookObject(Struct, frozen=True, eq=False):
    """An object that a webhook checks, or the Job that a CronJob creates."""

    workload: Workload
    kind: str
    at: At
    data: Mapping[str, Any]
    labels: Mapping[str, str]
    annotations: Mapping[str, str]

    @property
    def spec(self) -> Mapping[str, Any]:
        """`spec`; empty if it is missing or not a mapping."""
        return mapping(self.data, "spec")

    @property
    def managed_by(self) -> str | None:
        """`spec.managedBy`; None if it is not a string."""
        found = self.spec.get("managedBy")
        return found if isinstance(found, str) else None

    @property
    def count(self) -> int | None:
        """The number of pods that Kueue counts for a Job; None if it is not known."""
        pods, ends = self.number("parallelism"), self.number("completions", None)
        return pods if pods is None or ends is None else min(pods, ends)

    def number(self, field: str, default: int | None = 1) -> int | None:
        """An integer of `spec`; the default if it is missing, None if it has another type."""
        found = self.spec.get(field)
        return default if found is None else integer(found)


def webhook_object(workload: Workload) -> WebhookObject:
    """The object itself; for a CronJob, the Job that it creates."""
    kind, at, own = workload.kind, workload.at, workload.object
    if kind != "CronJob":
        return WebhookObject(workload, kind, at, own.data, own.labels, own.annotations)
    path = ("spec", "jobTemplate")
    data = mapping(own.data, *path)
    written = (keyed_texts(data, "metadata", it) for it in KEYED_METADATA)
    return WebhookObject(workload, "Job", at.to(*path), data, *written)


def batch_jobs(cluster: Cluster) -> tuple[WebhookObject, ...]:
    """The Jobs of Kubernetes, and those that CronJobs create."""
    return cluster.derive(_batch_jobs)


def _batch_jobs(cluster: Cluster) -> tuple[WebhookObject, ...]:
    return tuple(map(webhook_object, cluster.workloads_of("batch")))
