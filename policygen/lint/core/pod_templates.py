"""Pods and pod templates as written, of the kinds whose templates the API server checks."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from policygen.core.finding import At, FaultAt
from policygen.core.label_grammar import key_fault, value_fault
from policygen.core.quoting import bare
from policygen.kubernetes.cluster import VOLCANO_BATCH, Cluster
from policygen.kubernetes.untyped import mapping, numbered
from policygen.kubernetes.workloads import TEMPLATES, Workload, pod_templates

_GROUPS = ("", "apps", "batch", VOLCANO_BATCH)
"""Groups whose templates are checked. For operators' kinds the server checks only the pods."""
KINDS = tuple(sorted({kind for group, kind in TEMPLATES if group in _GROUPS}))


class Part(Struct, frozen=True, eq=False):
    """A part of an object as written, and its place."""

    owner: Workload
    at: At
    data: Mapping[str, Any]

    def under(self, key: str) -> "Part":
        """The mapping under a key; empty if it is missing."""
        return Part(self.owner, self.at / key, mapping(self.data.get(key)))

    def items(self, key: str) -> "Iterator[Part]":
        """The mappings of a list."""
        for i, entry in numbered(self.data, key):
            yield Part(self.owner, self.at.to(key, i), entry)


def label_faults(labels: Part) -> Iterator[FaultAt]:
    """Places and messages about invalid keys and values in a mapping of labels."""
    for key, value in labels.data.items():
        if fault := key_fault(key):
            yield (labels.at / key).on_key(), f"{labels.owner}: {fault}"
        if isinstance(value, str) and (fault := value_fault(value)):
            yield labels.at / key, f"{labels.owner}: {bare(key)} {fault}"


def pod_specs(cluster: Cluster) -> Iterator[Part]:
    """The `spec` of each pod or template that has one."""
    for workload in cluster.workloads:
        if workload.object.group not in _GROUPS:
            continue
        for path, data, _ in pod_templates(workload.object):
            spec = data.get("spec")
            if isinstance(spec, dict):
                yield Part(workload, workload.at.to(*path, "spec"), spec)


def templates(cluster: Cluster) -> Iterator[Part]:
    """Pod templates with their metadata, without Pods, whose metadata the schema checks."""
    for workload in cluster.workloads:
        if workload.object.group in _GROUPS:
            for path, data, _ in pod_templates(workload.object):
                if path:
                    yield Part(workload, workload.at.to(*path), data)


def containers(spec: Part) -> Iterator[Part]:
    """All containers, init containers first."""
    yield from spec.items("initContainers")
    yield from spec.items("containers")


def named(part: Part) -> str:
    """The name of a container in messages."""
    name = part.data.get("name")
    return f"container {name} of {part.owner}" if name else f"a container of {part.owner}"
