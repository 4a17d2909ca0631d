"""Finds the place in the spec from which a field of a model's object was derived."""

from collections.abc import Mapping, Sequence

from policygen.core.finding import At, Path
from policygen.plan.kind import Item
from policygen.plan.model_names import MODEL
from policygen.plan.pods import NODE_SELECTOR, TOLERATIONS
from policygen.plan.pool import PoolFacts
from policygen.plan.workload.availability import DisruptionBudget
from policygen.plan.workload.objects import WorkloadObject
from policygen.plan.workload.scaling import ModelAutoscaler
from policygen.plan.workload.vertical import Recommender
from policygen.spec.types import Model, Pool, Spec

_OF_MODEL = {
    **{name: ("container", name) for name in ("image", "command", "args")},
    "ports": ("container", "port"),
    "lifecycle": ("checkpoint", "command"),
    "terminationGracePeriodSeconds": ("checkpoint", "gracePeriodSeconds"),
}
_SCHEDULE = {"schedule": "cron", "timeZone": "timeZone", "activeDeadlineSeconds": "hours"}
_AVAILABILITY = frozenset({"topologySpreadConstraints", "affinity"})
_BUDGET = dict.fromkeys(("minAvailable", "maxUnavailable"), "minAvailable")
_SCALING = {
    "minReplicas": "minReplicas",
    "maxReplicas": "maxReplicas",
    "minReplicaCount": "minReplicas",
    "maxReplicaCount": "maxReplicas",
    "metric": "metric",
    "query": "metric",
    "target": "targetConcurrency",
    "threshold": "targetConcurrency",
}
"""The fields of an autoscaler, and those of `autoscaling` in the spec."""
_COUNTS = ("replicas", "parallelism", "completions", "size", "minAvailable", "completionMode")
_PRIORITY = ("priorityClassName", "kueue.x-k8s.io/priority-class")
_POOL: Mapping[str, tuple[str, ...]] = {
    "schedulerName": ("schedulingPolicy",),
    NODE_SELECTOR: ("nodeSelector",),
    TOLERATIONS: ("taints",),
    "kueue.x-k8s.io/podset-preferred-topology": ("schedulingPolicy", "topologyAware"),
}
_RESOURCES = {"cpu": "cpu", "memory": "memory"}


class WorkloadOrigins:
    """Finds the places in the Models and ResourcePools of a spec."""

    def __init__(self, spec: Spec, pools: Sequence[PoolFacts]) -> None:
        self._models = {it.name: it for it in spec.models}
        self._keda = spec.platform.keda
        self._pools = {it.name: it.pool for it in pools}

    def of(self, item: Item, path: Path) -> At | None:
        """The place for a field of an object, or for the object if `path` is empty."""
        fields: WorkloadObject | DisruptionBudget | ModelAutoscaler | Recommender = item.fields
        model, steps = self._models[fields.model], [str(it) for it in path]
        last = steps[-1] if steps else ""
        if isinstance(fields, DisruptionBudget):
            return _available(model, last)
        if last == "serverAddress" and self._keda is not None and self._keda.at is not None:
            return self._keda.at / "prometheus"
        if isinstance(fields, Recommender):
            return model.at.to("metadata", "name") if last != "namespace" else model.field("team")
        if isinstance(fields, ModelAutoscaler):
            return _scaled(model, steps)
        return _of_object(model, self._pools[fields.pool], steps, last)


def _of_object(model: Model, pool: Pool, steps: list[str], last: str) -> At:
    """The place for a field of the object that runs a model."""
    for step in steps:
        if step in _OF_MODEL:
            parent, field = _OF_MODEL[step]
            return model.field(parent) / field
        if step in _POOL:
            return pool.at.to("spec", *_POOL[step])
        if step in _AVAILABILITY:
            return _available(model, last)
    if last in _SCHEDULE:
        return model.field("schedule") / _SCHEDULE[last]
    if "resources" in steps:
        return _requested(model, pool, last)
    if last in _PRIORITY:
        return model.field("priority")
    if last in _COUNTS:
        return _counted(model)
    if last in ("", "name", "app", MODEL):
        return model.at.to("metadata", "name")
    return model.field("team")


def _requested(model: Model, pool: Pool, resource: str) -> At:
    """What decides an amount of a pod."""
    written = {"cpu": model.cpu_milli, "memory": model.memory_bytes}
    if resource in written and written[resource] is None:
        return pool.at.to("spec", "capacity")
    return model.field("resources") / _RESOURCES.get(resource, "gpus")


def _counted(model: Model) -> At:
    """The number of pods or replicas."""
    if model.gang is not None:
        return model.field("gang") / "size"
    return (
        model.field("autoscaling") / "minReplicas" if model.autoscaling else model.field("replicas")
    )


def _available(model: Model, last: str) -> At:
    """What decides a field of a constraint or of a budget."""
    if last in ("", "name"):
        return model.field("availability")
    return model.field("availability") / _BUDGET.get(last, "failureDomain")


def _scaled(model: Model, steps: list[str]) -> At:
    """What decides a field of an autoscaler."""
    scaling = model.field("autoscaling")
    field = next((_SCALING[it] for it in steps if it in _SCALING), None)
    if field is not None:
        return scaling / field
    if "scaleTargetRef" in steps or steps[-1:] in (["name"], [MODEL]):
        return model.at.to("metadata", "name")
    return model.field("team") if steps else scaling.on_key()
