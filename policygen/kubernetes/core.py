"""Views of Kubernetes' own kinds for rules. They omit fields that no rule reads.

Source: k8s.io/api of Kubernetes 1.36.3 (core/v1, scheduling/v1, node/v1, storage/v1, autoscaling/v2).
"""

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any

from msgspec import Struct, field

from policygen.kubernetes.untyped import mappings, texts


class Requirement(Struct, rename="camel", frozen=True):
    """One expression of a label selector."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def holds(self, labels: Mapping[str, str]) -> bool:
        """Whether labels match it (k8s.io/apimachinery, labels.Requirement.Matches)."""
        value = labels.get(self.key)
        match self.operator:
            case "In":
                return value in self.values
            case "NotIn":
                return value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
            case "Gt" | "Lt":  # only in node selectors
                if len(self.values) != 1:
                    return False
                one, other = _integer(value), _integer(self.values[0])
                if one is None or other is None:
                    return False
                return one > other if self.operator == "Gt" else one < other
        return False


_INTEGER = re.compile(r"[+-]?[0-9]{1,64}")
_BITS = 63


def _integer(text: str | None) -> int | None:
    """The integer in a text as Go reads it (strconv.ParseInt with 64 bits); None: it has none."""
    found = int(text) if text is not None and _INTEGER.fullmatch(text) else None
    return found if found is not None and -(1 << _BITS) <= found < 1 << _BITS else None


class LabelSelector(Struct, rename="camel", frozen=True):
    """The labels that an object must have; an empty selector selects all objects."""

    match_labels: dict[str, str] = field(default_factory=dict)
    match_expressions: tuple[Requirement, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether it selects everything."""
        return not self.match_labels and not self.match_expressions

    def selects(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels is selected (metav1.LabelSelectorAsSelector)."""
        if any(labels.get(key) != value for key, value in self.match_labels.items()):
            return False
        return all(each.holds(labels) for each in self.match_expressions)


def requirements(data: Any) -> tuple[Requirement, ...]:
    """The expressions of an unchecked list."""
    return tuple(
        Requirement(str(one.get("key", "")), str(one.get("operator", "")), texts(one, "values"))
        for one in mappings(data)
    )


class TaintView(Struct, rename="camel", frozen=True):
    """A taint of a node."""

    key: str = ""
    effect: str = ""
    value: str = ""


class TolerationView(Struct, rename="camel", frozen=True):
    """A toleration of a pod."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""


class NamespaceView(Struct, rename="camel", frozen=True):
    """A Namespace. Rules read only its labels, which are metadata."""


class NodeSpec(Struct, rename="camel", frozen=True):
    """`spec` of a Node."""

    taints: tuple[TaintView, ...] = ()
    unschedulable: bool = False


class NodeStatus(Struct, rename="camel", frozen=True):
    """`status` of a Node."""

    allocatable: dict[str, Fraction] = field(default_factory=dict)
    capacity: dict[str, Fraction] = field(default_factory=dict)


class NodeView(Struct, rename="camel", frozen=True):
    """A Node."""

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class ScopeRequirement(Struct, rename="camel", frozen=True):
    """One expression of a quota's scope selector."""

    scope_name: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class ScopeSelector(Struct, rename="camel", frozen=True):
    """Selects the pods that a quota counts."""

    match_expressions: tuple[ScopeRequirement, ...] = ()


class ResourceQuotaView(Struct, rename="camel", frozen=True):
    """`spec` of a ResourceQuota."""

    hard: dict[str, Fraction] = field(default_factory=dict)
    scopes: tuple[str, ...] = ()
    scope_selector: ScopeSelector | None = None

    @property
    def counts_all(self) -> bool:
        """Whether it counts every pod, because it has no scopes."""
        return not self.scopes and not self.scope_selector


class LimitRangeItem(Struct, rename="camel", frozen=True, dict=True):
    """The limits for one type of object."""

    type: str = ""
    max: dict[str, Fraction] = field(default_factory=dict)
    min: dict[str, Fraction] = field(default_factory=dict)
    default: dict[str, Fraction] = field(default_factory=dict)
    default_request: dict[str, Fraction] = field(default_factory=dict)
    max_limit_request_ratio: dict[str, Fraction] = field(default_factory=dict)

    @property
    def by_field(self) -> dict[str, dict[str, Fraction]]:
        """All its amounts, by the names of their fields."""
        return {
            "max": self.max,
            "min": self.min,
            "default": self.default,
            "defaultRequest": self.default_request,
            "maxLimitRequestRatio": self.max_limit_request_ratio,
        }

    @cached_property
    def filled_limits(self) -> Mapping[str, Fraction]:
        """The limits that containers without limits get: the default, or the maximum.

        Source: pkg/apis/core/v1/defaults.go, SetDefaults_LimitRangeItem.
        """
        return {**self.max, **self.default}

    @cached_property
    def filled_requests(self) -> Mapping[str, Fraction]:
        """The requests that containers without requests get. Source: as for `filled_limits`."""
        return {**self.min, **self.filled_limits, **self.default_request}

    def fills_by(self, name: str) -> str:
        """The field from which containers get this resource."""
        for field_name, amounts in (
            ("defaultRequest", self.default_request),
            ("default", self.default),
            ("max", self.max),
        ):
            if name in amounts:
                return field_name
        return "min"


class LimitRangeView(Struct, rename="camel", frozen=True):
    """`spec` of a LimitRange."""

    limits: tuple[LimitRangeItem, ...] = ()


class PriorityClassView(Struct, rename="camel", frozen=True):
    """A PriorityClass, which has no `spec`."""

    value: int = 0
    global_default: bool = False
    preemption_policy: str = "PreemptLowerPriority"


class PodOverhead(Struct, rename="camel", frozen=True):
    """What the runtime of a pod uses itself."""

    pod_fixed: dict[str, Fraction] = field(default_factory=dict)


class RuntimeScheduling(Struct, rename="camel", frozen=True):
    """What a RuntimeClass adds to what its pods require of a node."""

    node_selector: dict[str, str] = field(default_factory=dict)
    tolerations: tuple[TolerationView, ...] = ()


class RuntimeClassView(Struct, rename="camel", frozen=True):
    """A RuntimeClass, which has no `spec`."""

    overhead: PodOverhead = PodOverhead()
    scheduling: RuntimeScheduling = RuntimeScheduling()


class PersistentVolumeView(Struct, rename="camel", frozen=True):
    """`spec` of a PersistentVolume."""

    node_affinity: dict[str, Any] = field(default_factory=dict)
    storage_class_name: str = ""
    claim_ref: dict[str, Any] = field(default_factory=dict)


class PersistentVolumeClaimView(Struct, rename="camel", frozen=True):
    """`spec` of a PersistentVolumeClaim."""

    volume_name: str = ""
    storage_class_name: str | None = None
    """None: the default class."""


class StorageClassView(Struct, rename="camel", frozen=True):
    """A StorageClass, which has no `spec`."""

    provisioner: str = ""
    volume_binding_mode: str = "Immediate"
    allowed_topologies: tuple[dict[str, Any], ...] = ()


class ConfigMapView(Struct, rename="camel", frozen=True):
    """A ConfigMap."""

    data: dict[str, str] = field(default_factory=dict)


class HorizontalPodAutoscalerView(Struct, rename="camel", frozen=True):
    """`spec` of a HorizontalPodAutoscaler; its metrics are untyped."""

    scale_target_ref: dict[str, Any] = field(default_factory=dict)
    min_replicas: int | None = None
    max_replicas: int = 0
    metrics: tuple[dict[str, Any], ...] = ()

    @property
    def bounds(self) -> tuple[int, int]:
        """The fewest and the most replicas; the default of the fewest is 1."""
        return 1 if self.min_replicas is None else self.min_replicas, self.max_replicas


class ScaledObjectView(Struct, rename="camel", frozen=True):
    """`spec` of a ScaledObject of KEDA; its triggers are untyped."""

    scale_target_ref: dict[str, Any] = field(default_factory=dict)
    min_replica_count: int | None = None
    max_replica_count: int | None = None
    idle_replica_count: int | None = None
    triggers: tuple[dict[str, Any], ...] = ()

    @property
    def bounds(self) -> tuple[int, int]:
        """The fewest and the most replicas.

        Source of the defaults: apis/keda/v1alpha1/scaledobject_types.go of KEDA 2.18.
        """
        most = 100 if self.max_replica_count is None else self.max_replica_count
        return self.min_replica_count or 0, most

    @property
    def target(self) -> Mapping[str, Any]:
        """Its scaleTargetRef. Without a kind, KEDA scales a Deployment."""
        return {"kind": "Deployment", **self.scale_target_ref}


class PodDisruptionBudgetView(Struct, rename="camel", frozen=True):
    """`spec` of a PodDisruptionBudget. An amount is a number, or a percentage such as `50%`."""

    selector: LabelSelector | None = None
    """None selects no pod, an empty selector selects all pods of the namespace."""
    min_available: int | str | None = None
    max_unavailable: int | str | None = None


class NodePoolView(Struct, rename="camel", frozen=True):
    """`spec` of a NodePool of Karpenter; its template is untyped."""

    template: dict[str, Any] = field(default_factory=dict)
    limits: dict[str, Fraction] = field(default_factory=dict)


class VerticalPodAutoscalerView(Struct, rename="camel", frozen=True):
    """`spec` of a VerticalPodAutoscaler; its fields are untyped."""

    target_ref: dict[str, Any] = field(default_factory=dict)
    update_policy: dict[str, Any] = field(default_factory=dict)
    resource_policy: dict[str, Any] = field(default_factory=dict)
