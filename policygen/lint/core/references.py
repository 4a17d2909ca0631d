"""The ConfigMaps, Secrets, ServiceAccounts and Services that pods and workloads name."""

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from policygen.core.finding import At, Path
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.untyped import mapping, numbered, text
from policygen.kubernetes.workloads import Workload
from policygen.lint.core.pod_templates import Part, PodPart, pod_specs
from policygen.lint.core.pod_variables import sourced


class Reference(Struct, frozen=True, eq=False):
    """A name in the spec of a pod or workload."""

    owner: Workload
    kind: str
    name: str
    part: Part | Workload
    steps: Path
    """Its path in the part."""

    @property
    def at(self) -> At:
        """Its place. Made on demand, because rules pass many names and report few."""
        return self.part.at.to(*self.steps)


def references(cluster: Cluster, namespaces: Container[str]) -> Iterator[Reference]:
    """All names in these namespaces that are not optional: in the specs of pods, and of StatefulSets."""
    for pod in pod_specs(cluster):
        if pod.owner.namespace not in namespaces:
            continue
        for kind, name, path in _of_pod(pod, cluster.derive(sourced)):
            if name:
                yield Reference(pod.owner, kind, name, pod, path)
    for workload in cluster.workloads_of("apps"):
        name = text(workload.spec, "serviceName") if workload.namespace in namespaces else ""
        if name:
            yield Reference(workload, "Service", name, workload, ("spec", "serviceName"))


def _of_pod(
    pod: PodPart, variables: Mapping[Part, Sequence[Part]]
) -> Iterator[tuple[str, str, Path]]:
    """Kind and name of each reference, and its path in the pod spec."""
    data = pod.data
    if "serviceAccountName" in data:
        yield "ServiceAccount", text(data, "serviceAccountName"), ("serviceAccountName",)
    for i, secret in numbered(data, "imagePullSecrets") if "imagePullSecrets" in data else ():
        yield "Secret", text(secret, "name"), ("imagePullSecrets", i, "name")
    for i, volume in numbered(data, "volumes") if "volumes" in data else ():
        yield from _of_source(volume, "secretName", ("volumes", i))
        for j, source in numbered(volume, "projected", "sources") if "projected" in volume else ():
            yield from _of_source(source, "name", ("volumes", i, "projected", "sources", j))
    for container in pod.containers:
        if "envFrom" in container.data or container in variables:
            yield from _of_container(container, variables.get(container, ()))


def _of_source(
    source: Mapping[str, Any], of_secret: str, at: Path
) -> Iterator[tuple[str, str, Path]]:
    for kind, key, name in (("ConfigMap", "configMap", "name"), ("Secret", "secret", of_secret)):
        if (found := mapping(source, key)) and found.get("optional") is not True:
            yield kind, text(found, name), (*at, key, name)


def _of_container(container: Part, variables: Sequence[Part]) -> Iterator[tuple[str, str, Path]]:
    for i, source in numbered(container.data, "envFrom") if "envFrom" in container.data else ():
        yield from _of_refs(source, "Ref", (*container.steps, "envFrom", i))
    for variable in variables:
        if found := mapping(variable.data, "valueFrom"):
            path = (*container.steps, *variable.steps, "valueFrom")
            yield from _of_refs(found, "KeyRef", path)


def _of_refs(source: Mapping[str, Any], end: str, at: Path) -> Iterator[tuple[str, str, Path]]:
    for kind, start in (("ConfigMap", "configMap"), ("Secret", "secret")):
        found = mapping(source, f"{start}{end}")
        if found and found.get("optional") is not True:
            yield kind, text(found, "name"), (*at, f"{start}{end}", "name")
