"""The objects that the models of a spec become, as their teams would write them.

A serving model runs from the start with its least replicas: as a Deployment, or as a StatefulSet for each
gang. A training or batch model is a Job for each replica or gang, or a Volcano Job.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from policygen.core.names import POD_GROUP
from policygen.kubernetes.cluster import VOLCANO_BATCH
from policygen.kubernetes.object import Object
from policygen.plan.assignment import Assignment
from policygen.plan.model_names import MODEL, replica_names, runs
from policygen.plan.pods import (
    ANNOTATIONS,
    JOB_ANNOTATIONS,
    LABELS,
    LWS_ANNOTATIONS,
    NODE_SELECTOR,
    TOLERATIONS,
    VCJOB_SPEC,
    PodField,
    PodFields,
)
from policygen.plan.volcano import group_names
from policygen.spec.types import Taint

_MIN_MEMBER = "scheduling.volcano.sh/group-min-member"


class ModelObjects(Struct, frozen=True):
    """The models of a spec that a simulation adds to the jobs of its input."""

    data: tuple[Mapping[str, Any], ...]
    """The objects."""
    names: tuple[str, ...] = ()
    """Of these models."""
    own: tuple[str, ...] = ()
    """Models that objects of the input run, so that they are not added."""
    unplaced: tuple[str, ...] = ()
    """Models that fit no pool, or have no namespace."""


def model_objects(
    assignments: Sequence[Assignment],
    pods: Sequence[PodFields],
    models: Iterable[str],
    written: Iterable[Object],
) -> ModelObjects:
    """The objects of all models that no written object runs. `pods` are in the order of the assignments."""
    known = [(it.namespace or "default", it.name, it.labels.get(MODEL, "")) for it in written]
    data: list[Mapping[str, Any]] = []
    names, own = [], []
    for it, needed in zip(assignments, pods, strict=True):
        if needed.namespace is None:
            continue
        if any(
            runs(it, label=label, name=name, namespace=namespace)
            for namespace, name, label in known
        ):
            own.append(it.model.name)
            continue
        names.append(it.model.name)
        data += _objects(it, needed)
    placed = {*names, *own}
    unplaced = [it for it in models if it not in placed]
    return ModelObjects(tuple(data), tuple(names), tuple(own), tuple(unplaced))


def _objects(assignment: Assignment, needed: PodFields) -> Iterator[dict[str, Any]]:
    model = assignment.model
    serves = model.workload == "serving"
    if serves and model.gang is None:
        least = assignment.replicas.least
        yield _object(assignment, needed, "Deployment", name=model.name, pods=least)
        return
    kind = "StatefulSet" if serves else "Job"
    for i, name in enumerate(replica_names(assignment)):
        pods = model.gang.size if model.gang else 1
        yield _object(assignment, needed, kind, name=name, pods=pods, index=i)


def _object(  # noqa: PLR0913 - what it runs, and which part of it
    assignment: Assignment, needed: PodFields, kind: str, *, name: str, pods: int, index: int = 0
) -> dict[str, Any]:
    """An object with so many pods, which is the replica with this index."""
    model = assignment.model
    fields = [_of_replica(it, assignment, index) for it in needed.fields]
    labels = {MODEL: model.name}
    queued = {it.name: it.value for it in fields if it.owner == LABELS}
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": needed.namespace,
        "labels": {**labels, **queued},
        "annotations": {
            it.name: str(it.value)
            for it in fields
            if it.owner in (JOB_ANNOTATIONS, LWS_ANNOTATIONS)
        },
    }
    template: dict[str, Any] = {
        "metadata": {
            "labels": {"app": name, **labels},
            "annotations": {it.name: str(it.value) for it in fields if it.owner == ANNOTATIONS},
        },
        "spec": _pod_spec(assignment, needed, fields),
    }
    own = {it.name: it.value for it in fields if it.owner == VCJOB_SPEC}
    if own:
        tasks = [{"name": "main", "replicas": pods, "template": template}]
        # The PodGroup has the priority of the Job, not that of its pods.
        priority = {k: v for k, v in template["spec"].items() if k == "priorityClassName"}
        job = {"schedulerName": "volcano", **own, **priority, "tasks": tasks}
        return _made(f"{VOLCANO_BATCH}/v1alpha1", "Job", metadata, job)
    if model.gang is not None and assignment.facts.scheduler == "volcano":
        metadata["annotations"].setdefault(_MIN_MEMBER, str(pods))
    if kind == "Job":
        spec = {"parallelism": pods, "completions": pods, "template": template}
        template["spec"]["restartPolicy"] = "Never"
        return _made("batch/v1", kind, metadata, spec)
    selector = {"matchLabels": {"app": name}}
    return _made(
        "apps/v1", kind, metadata, {"replicas": pods, "selector": selector, "template": template}
    )


def _made(
    version: str, kind: str, metadata: Mapping[str, Any], spec: Mapping[str, Any]
) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


def _of_replica(field: PodField, assignment: Assignment, index: int) -> PodField:
    """The field of another replica than the first one: each gang has its own PodGroup."""
    if field.owner == ANNOTATIONS and field.name == POD_GROUP:
        return PodField(ANNOTATIONS, POD_GROUP, group_names(assignment.model)[index])
    return field


def _pod_spec(
    assignment: Assignment, needed: PodFields, fields: Sequence[PodField]
) -> dict[str, Any]:
    model = assignment.model
    amounts = {needed.resource: str(needed.units)}
    if model.cpu_milli:
        amounts["cpu"] = f"{model.cpu_milli}m"
    if model.memory_bytes:
        amounts["memory"] = str(model.memory_bytes)
    resources = {"requests": amounts, "limits": amounts}
    spec: dict[str, Any] = {
        "containers": [{"name": "main", "image": model.name, "resources": resources}]
    }
    spec |= {it.name: it.value for it in fields if not it.owner}
    selector = {it.name: it.value for it in fields if it.owner == NODE_SELECTOR}
    if selector:
        spec["nodeSelector"] = selector
    taints = [it.value for it in fields if it.owner == TOLERATIONS and isinstance(it.value, Taint)]
    if taints:
        spec["tolerations"] = [
            {"key": it.key, "operator": "Exists", "effect": it.effect} for it in taints
        ]
    return spec
