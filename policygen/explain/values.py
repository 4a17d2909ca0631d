"""How the plan computed each value of a rendered object: the steps to it, by kind and field."""

from collections.abc import Callable, Mapping
from typing import Any

from policygen.core.finding import Path, at_path, named
from policygen.explain import admission, controllers, node_autoscaler, queues, recorded
from policygen.explain.fields import field
from policygen.explain.namespaces import Namespaces
from policygen.explain.rollouts import Rollouts
from policygen.explain.scaling import Scaling
from policygen.explain.step import Step, Steps, of_platform
from policygen.plan.decisions import Decisions
from policygen.plan.extras import (
    ADMISSION,
    MONITORING,
    NODE_AUTOSCALER,
    SECOND_SCHEDULER,
    VPA,
    WORKLOADS,
)
from policygen.plan.kind import Item
from policygen.plan.origin import Origins
from policygen.plan.workload.scaling import HPA, SCALED_OBJECT

Derive = Callable[[Item, Path], Steps]
"""The steps to a field of an object; empty if its value is a copy of one place in the spec."""


class Values:
    """Finds the steps to each value of the objects of one spec."""

    def __init__(self, decided: Decisions) -> None:
        self._origins = Origins(decided.spec, decided.pools, decided.trees)
        self._decided = decided
        tree = queues.Queues(decided)
        of_namespace = Namespaces(decided)
        files = controllers.Controllers(decided)
        door = admission.AdmissionSteps(decided)
        scaling = Scaling(decided)
        self._extras: Mapping[str, Mapping[str, Derive]] = {
            ADMISSION: {
                "ConfigMap": door.of_config_map,
                "MutatingAdmissionPolicy": door.of_mutating,
                "MutatingAdmissionPolicyBinding": door.of_mutating,
                "ValidatingAdmissionPolicy": door.of_policy,
                "ValidatingAdmissionPolicyBinding": door.of_policy,
            },
            MONITORING: {"PrometheusRule": recorded.RecordedSteps(decided).of},
            NODE_AUTOSCALER: {
                "NodePool": node_autoscaler.NodeAutoscalerSteps(decided).of_node_pool
            },
            VPA: {"VerticalPodAutoscaler": scaling.of_target},
            WORKLOADS: {
                "Deployment": Rollouts(decided).of,
                HPA: scaling.of,
                SCALED_OBJECT: scaling.of,
            },
        }
        self._derive: Mapping[str, Derive] = {
            "ClusterQueue": tree.of_kueue,
            "Cohort": tree.of_kueue,
            "Queue": tree.of_volcano,
            "LocalQueue": tree.of_local_queue,
            "PodGroup": tree.of_pod_group,
            "ResourceQuota": of_namespace.of_quota,
            "LimitRange": of_namespace.of_limit_range,
            "ConfigMap": files.of,
        }

    def steps(self, item: Item, data: Mapping[str, Any], path: Path) -> Steps:
        """The steps to the value at a path of the data of an object; the last one has the value."""
        meaning, with_names = field(item.kind, path), named(data, path)
        derive = self._extras.get(item.kind.extra, self._derive).get(item.kind.name)
        if derive is not None and (found := derive(item, with_names)):
            return found
        name, value = str(with_names[-1]), written(at_path(data, path))
        if meaning is not None and meaning.always:
            return [Step(name, value, note=f"always: {meaning.always}")]
        if common := self._common(item, path):
            return common
        at = self._origins.of(item, with_names)
        return [Step(name, value, at=at, note="" if at else "default: the spec has no Platform")]

    def _common(self, item: Item, path: Path) -> Steps:
        """The steps to the fields that all kinds have."""
        platform, kind = self._decided.platform, item.kind
        set_ = of_platform(platform, "name of the Platform", platform.name, "metadata", "name")
        match path:
            case ("apiVersion",):
                version = str(getattr(platform.target, kind.component))
                name = f"target version of {kind.component}"
                path = ("spec", "target", kind.component)
                target = of_platform(platform, name, version, *path)
                if (it := platform.cluster) and kind.component in dict(it.target):
                    target = Step(name, version, at=it.at.to("target", kind.component))
                note = "the version for this target"
                return [
                    target,
                    Step("apiVersion", item.release.api_version, note=note),
                ]
            case ("metadata", "labels", "policygen.dev/set"):
                return [set_]
            case ("metadata", "name") if kind.extra == SECOND_SCHEDULER:
                return [set_, Step("metadata.name", item.meta.name, note="<platform>-<role>")]
        return []


def written(value: Any) -> str:
    """A value as a step shows it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
