"""The requests of pods as Kueue counts them.

Source: pkg/workload/resources.go of Kueue 0.19.2, AdjustResources; of several LimitRanges, the
first default counts.
"""

from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.limit_ranges import container_limits
from policygen.kubernetes.workloads import Container, PodSpec, Resources

BY_POD_KINDS = ("Deployment", "Pod", "ReplicaSet", "ReplicationController", "Rollout")
"""Kinds whose pods Kueue reads after the API server has filled in their defaults."""


class _Defaults(Struct, frozen=True):
    """The defaults of containers without a request or limit."""

    requests: dict[str, Fraction]
    limits: dict[str, Fraction]

    def fills(self, container: Container) -> bool:
        """Whether a container lacks any of these requests or limits."""
        own = container.resources
        return not (
            self.requests.keys() <= own.requests.keys() and self.limits.keys() <= own.limits.keys()
        )

    def fill(self, container: Container) -> Container:
        """The container with these defaults."""
        own = container.resources
        filled = Resources({**self.requests, **own.requests}, {**self.limits, **own.limits})
        return replace(container, resources=filled)


def adjusted(cluster: Cluster, spec: PodSpec, namespace: str) -> PodSpec:
    """The pod spec with the overhead of its RuntimeClass and the defaults of LimitRanges.

    In templates, Kueue takes a pod-level limit without a request as the request.
    """
    own = spec.resources
    if own.limits:
        spec = replace(spec, resources=replace(own, requests={**own.limits, **own.requests}))
    if spec.runtime_class_name and not spec.overhead:
        found = cluster.runtime_classes.get(spec.runtime_class_name)
        spec = replace(spec, overhead=found.fields.overhead.pod_fixed) if found else spec
    requests: dict[str, Fraction] = {}
    limits: dict[str, Fraction] = {}
    for item in container_limits(cluster, namespace):
        requests = {**item.filled_requests, **requests}
        limits = {**item.filled_limits, **limits}
    if not (requests or limits):
        return spec
    defaults = _Defaults(requests, limits)
    if not any(map(defaults.fills, (*spec.containers, *spec.init_containers))):
        return spec
    return replace(
        spec,
        containers=tuple(map(defaults.fill, spec.containers)),
        init_containers=tuple(map(defaults.fill, spec.init_containers)),
    )


def as_pod(spec: PodSpec) -> PodSpec:
    """The spec of a pod: the API server writes the requests that are not set.

    For a container, this is its limit; for the pod, see `PodSpec.pod_level`. It does not do so in the
    templates of other objects.
    Source: pkg/apis/core/v1/defaults.go, SetDefaults_Pod, of Kubernetes 1.36.3.
    """
    return replace(
        spec,
        containers=tuple(map(_with_requests, spec.containers)),
        init_containers=tuple(map(_with_requests, spec.init_containers)),
        resources=replace(spec.resources, requests={**spec.resources.requests, **spec.pod_level()}),
    )


def _with_requests(container: Container) -> Container:
    own = container.resources
    return replace(container, resources=replace(own, requests={**own.limits, **own.requests}))
