"""Pods and pod templates as written, of the kinds whose templates the API server checks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from policygen.core.finding import At, FaultAt, Path
from policygen.core.label_grammar import key_fault, value_fault
from policygen.core.quoting import bare
from policygen.kubernetes.cluster import VOLCANO_BATCH, Cluster
from policygen.kubernetes.workloads import TEMPLATES, Workload, pod_templates

_GROUPS = ("", "apps", "batch", VOLCANO_BATCH)
"""Groups whose templates are checked. For operators' kinds the server checks only the pods."""
PORTS_AS_WRITTEN = (
    "",
    "apps",
    "argoproj.io",
    "batch",
    "jobset.x-k8s.io",
    "leaderworkerset.x-k8s.io",
)
"""Groups whose controllers add no ports to their pods."""
KINDS = tuple(sorted({kind for group, kind in TEMPLATES if group in _GROUPS}))


class Part(Struct, frozen=True, eq=False):
    """A part of an object as written."""

    owner: Workload
    data: Mapping[str, Any]
    steps: Path
    """The path of this part in `above`, or in the owner."""
    above: "Part | None" = None

    @property
    def at(self) -> At:
        """Its place. Made on demand, because rules pass many parts and report few."""
        above = self.owner if self.above is None else self.above
        return above.at.to(*self.steps)

    def under(self, key: str) -> "Part":
        """The mapping under a key; empty if it is missing."""
        found = self.data.get(key)
        return Part(self.owner, found if isinstance(found, dict) else {}, (key,), self)

    def items(self, key: str, *, having: str = "") -> "Sequence[Part]":
        """The mappings of a list, or those that have a field."""
        found = self.data.get(key)
        if not isinstance(found, list):
            return ()
        return [
            Part(self.owner, entry, (key, i), self)
            for i, entry in enumerate(found)
            if isinstance(entry, dict) and (not having or having in entry)
        ]


class PodPart(Part, frozen=True, eq=False, kw_only=True):
    """The `spec` of a pod or template."""

    containers: Sequence[Part]
    """All containers, init containers first."""


def label_faults(labels: Part) -> Iterator[FaultAt]:
    """Places and messages about invalid keys and values in a mapping of labels."""
    for key, value in labels.data.items():
        if fault := key_fault(key):
            yield (labels.at / key).on_key(), f"{labels.owner}: {fault}"
        if isinstance(value, str) and (fault := value_fault(value)):
            yield labels.at / key, f"{labels.owner}: {bare(key)} {fault}"


def annotation_faults(annotations: Part) -> Iterator[FaultAt]:
    """Places and messages about invalid keys in a mapping of annotations."""
    for key in annotations.data:
        if fault := key_fault(key.lower()):
            message = fault.replace("label key", "annotation key")
            yield (annotations.at / key).on_key(), f"{annotations.owner}: {message}"


def pod_specs(cluster: Cluster) -> tuple[PodPart, ...]:
    """The `spec` of each pod or template that has one."""
    return cluster.derive(_pod_specs)


def pods_of_operators(cluster: Cluster) -> Iterator[PodPart]:
    """The `spec` of each template of another kind, of which the server checks only the pods."""
    others = (it for it in cluster.workloads if it.object.group not in _GROUPS)
    return specs_in(
        Part(it, data, path) for it in others for path, data in pod_templates(it.object)
    )


def _pod_specs(cluster: Cluster) -> tuple[PodPart, ...]:
    return tuple(specs_in(cluster.derive(_templates)))


def specs_in(templates: Iterable[Part]) -> Iterator[PodPart]:
    """The `spec` of each pod or template that has one."""
    for template in templates:
        if isinstance(spec := template.data.get("spec"), dict):
            yield _pod_spec(Part(template.owner, spec, (*template.steps, "spec")))


def _pod_spec(part: Part) -> PodPart:
    containers = part.items("containers")
    if "initContainers" in part.data:
        containers = [*part.items("initContainers"), *containers]
    return PodPart(part.owner, part.data, part.steps, containers=containers)


def _templates(cluster: Cluster) -> tuple[Part, ...]:
    return tuple(templates_of(cluster.workloads))


def templates_of(workloads: Iterable[Workload]) -> Iterator[Part]:
    """The pods and pod templates of workloads, of the kinds that are checked."""
    return (
        Part(workload, data, path)
        for workload in workloads
        if workload.object.group in _GROUPS
        for path, data in pod_templates(workload.object)
    )


def named(part: Part) -> str:
    """The name of a container in messages."""
    name = part.data.get("name")
    return f"container {name} of {part.owner}" if name else f"a container of {part.owner}"
