"""What a ResourceQuota counts of a pod, and which pods it counts.

Source: pkg/quota/v1/evaluator/core/pods.go and plugin/pkg/admission/resourcequota of Kubernetes 1.36.3.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import lru_cache

from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import ResourceQuotaView, ScopeRequirement
from policygen.kubernetes.priorities import default_class
from policygen.kubernetes.untyped import mapping, mappings
from policygen.kubernetes.workloads import Container, PodSpec

PODS = ("pods", "count/pods")
_ZERO, _ONE = Fraction(0), Fraction(1)
_PLAIN = ("cpu", "memory", "ephemeral-storage")
_REQUIRED = ("cpu", "memory")
"""If a quota counts them, each container must set them."""
_CROSS_NAMESPACE = ("namespaces", "namespaceSelector")


def resource_of(key: str) -> str:
    """The resource of a key of `hard`."""
    return key.removeprefix("requests.").removeprefix("limits.")


def charge(spec: PodSpec, key: str) -> Fraction:
    """What one pod counts for a key of `hard`; 0 for a key that does not count pods."""
    source, name = _source(key)
    if source == "requests":
        return spec.requests.get(name, _ZERO)
    if source == "limits":
        return spec.limits.get(name, _ZERO)
    return _ONE if source == "pods" else _ZERO


def counts_pods(key: str) -> bool:
    """Whether a key of `hard` counts pods or their requests or limits."""
    return bool(_source(key)[0])


@lru_cache(1 << 10)  # few keys, but each is counted for all pods of a namespace
def _source(key: str) -> tuple[str, str]:
    """What a key of `hard` counts of pods, and the resource; "" if it does not count pods."""
    name = resource_of(key)
    if key in PODS:
        return "pods", name
    if key.startswith("limits."):
        return "limits" if name in _PLAIN else "", name
    return "requests" if key.startswith(("requests.", "hugepages-")) or key in _PLAIN else "", name


def unset(quota: ResourceQuotaView, spec: PodSpec) -> tuple[str, ...]:
    """The keys of cpu and memory that a quota counts and not every container sets, so that it refuses the pod."""
    if spec.pod_level():
        return ()
    every = (*spec.containers, *spec.init_containers)
    return tuple(
        key
        for key in quota.hard
        if resource_of(key) in _REQUIRED and not all(sets(it, key) for it in every)
    )


def sets(container: Container, key: str) -> bool:
    """Whether a container has what a key of cpu or memory counts; a limit is also its request."""
    own, name = container.resources, resource_of(key)
    return name in own.limits or (not key.startswith("limits.") and name in own.requests)


def counts(quota: ResourceQuotaView, spec: PodSpec, priority_class: str) -> bool:
    """Whether all scopes of a quota match a pod. `priority_class` is that of the pod, or the default."""
    expressions = quota.scope_selector.match_expressions if quota.scope_selector else ()
    named = (ScopeRequirement(it, "Exists") for it in quota.scopes)
    return all(_matches(it, spec, priority_class) for it in (*named, *expressions))


def _matches(scope: ScopeRequirement, spec: PodSpec, priority_class: str) -> bool:
    name = scope.scope_name
    if name == "PriorityClass":
        return _selects(scope, priority_class)
    found = _SCOPES.get(name)
    return found is not None and found(spec)


def _selects(scope: ScopeRequirement, priority_class: str) -> bool:
    if scope.operator == "In":
        return priority_class in scope.values
    if scope.operator == "NotIn":
        return priority_class not in scope.values
    return bool(priority_class) is (scope.operator != "DoesNotExist")


def _is_best_effort(spec: PodSpec) -> bool:
    """Whether no container has cpu or memory."""
    every = (it.resources for it in (*spec.containers, *spec.init_containers))
    amounts = (
        amount for it in (*every, spec.resources) for amount in _of_host(it.requests, it.limits)
    )
    return not any(amounts)


def _of_host(*of: Mapping[str, Fraction]) -> Iterator[Fraction]:
    return (it.get(name, Fraction(0)) for it in of for name in _REQUIRED)


def _crosses_namespaces(spec: PodSpec) -> bool:
    terms = (
        term.get("podAffinityTerm", term)
        for kind in ("podAffinity", "podAntiAffinity")
        for way in mapping(spec.affinity, kind)
        for term in mappings(spec.affinity, kind, way)
    )
    return any(any(map(mapping(it).get, _CROSS_NAMESPACE)) for it in terms)


_SCOPES = {
    "Terminating": lambda it: it.active_deadline_seconds is not None,
    "NotTerminating": lambda it: it.active_deadline_seconds is None,
    "BestEffort": _is_best_effort,
    "NotBestEffort": lambda it: not _is_best_effort(it),
    "CrossNamespacePodAffinity": _crosses_namespaces,
}


def priority_class_of(cluster: Cluster, spec: PodSpec) -> str:
    """The PriorityClass of a pod: the one that it names, or the default."""
    default = default_class(cluster)
    return spec.priority_class_name or (default.name if default is not None else "")
