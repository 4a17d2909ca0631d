"""Workloads of teams: pods, Jobs, Deployments and Volcano jobs that request GPUs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .client import Object

GPU = "nvidia.com/gpu"
KUEUE_QUEUE = "kueue.x-k8s.io/queue-name"
KUEUE_PRIORITY = "kueue.x-k8s.io/priority-class"
VOLCANO_QUEUE = "scheduling.volcano.sh/queue-name"
VOLCANO_GROUP = "scheduling.k8s.io/group-name"


@dataclass(frozen=True)
class Ask:
    """The requests of each pod, and its node constraints. `resource` names what `gpus` counts."""

    gpus: int = 1
    resource: str = GPU
    cpu: str | None = None
    memory: str | None = None
    scheduler: str | None = None
    priority: str | None = None
    """A PriorityClass."""
    node_selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: Sequence[Mapping[str, Any]] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    limits: bool = True
    """False: the container names no resource at all."""

    @property
    def template(self) -> Object:
        """The pod as a template holds it."""
        wanted = {"cpu": self.cpu, "memory": self.memory}
        resources = {name: amount for name, amount in wanted.items() if amount is not None}
        if self.gpus:
            resources[self.resource] = str(self.gpus)
        container: Object = {"name": "main", "image": "none.invalid/none"}
        if self.limits and resources:
            container["resources"] = {"requests": resources, "limits": resources}
        spec: Object = {"containers": [container], "terminationGracePeriodSeconds": 0}
        if self.scheduler:
            spec["schedulerName"] = self.scheduler
        if self.priority:
            spec["priorityClassName"] = self.priority
        if self.node_selector:
            spec["nodeSelector"] = dict(self.node_selector)
        if self.tolerations:
            spec["tolerations"] = [dict(toleration) for toleration in self.tolerations]
        metadata = {"labels": dict(self.labels), "annotations": dict(self.annotations)}
        return {"metadata": {key: value for key, value in metadata.items() if value}, "spec": spec}


def pod(name: str, namespace: str, ask: Ask) -> Object:
    made = ask.template
    metadata = {**made["metadata"], "name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": made["spec"]}


def on_node(node: str, name: str, namespace: str, ask: Ask) -> Object:
    """A pod that no scheduler needs to place."""
    made = pod(name, namespace, ask)
    made["spec"]["nodeName"] = node
    return made


def service(name: str, namespace: str) -> Object:
    """A Service of the pods whose label `app` is its name."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"selector": {"app": name}, "ports": [{"port": 80}]},
    }


def job(
    name: str,
    namespace: str,
    ask: Ask,
    *,
    pods: int = 1,
    queue: str | None = None,
    kueue_priority: str | None = None,
    labels: Mapping[str, str] | None = None,
) -> Object:
    """A batch Job of so many pods at once; `queue` is a Kueue LocalQueue."""
    template = ask.template
    template["spec"]["restartPolicy"] = "Never"
    found = {KUEUE_QUEUE: queue, KUEUE_PRIORITY: kueue_priority, **(labels or {})}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {key: value for key, value in found.items() if value is not None},
        },
        "spec": {"parallelism": pods, "completions": pods, "template": template},
    }


def deployment(name: str, namespace: str, ask: Ask, *, replicas: int = 1) -> Object:
    own = replace(ask, labels={"app": name, **ask.labels})
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": own.template,
        },
    }


def vcjob(
    name: str,
    namespace: str,
    ask: Ask,
    *,
    pods: int = 1,
    min_available: int | None = None,
    queue: str = "default",
    priority: str | None = None,
) -> Object:
    """A Volcano Job of one task; without `min_available` all its pods start together or not at all."""
    template = ask.template
    template["spec"]["restartPolicy"] = "Never"
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "schedulerName": "volcano",
            "queue": queue,
            "minAvailable": pods if min_available is None else min_available,
            **({"priorityClassName": priority} if priority else {}),
            "tasks": [{"name": "main", "replicas": pods, "template": template}],
        },
    }


def pod_group(
    name: str,
    namespace: str,
    *,
    queue: str,
    min_member: int,
    min_resources: Mapping[str, str] | None = None,
    priority: str | None = None,
) -> Object:
    """A Volcano PodGroup; its pods carry the annotation VOLCANO_GROUP and schedulerName volcano."""
    spec: Object = {"queue": queue, "minMember": min_member}
    if min_resources:
        spec["minResources"] = dict(min_resources)
    if priority:
        spec["priorityClassName"] = priority
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }
