"""Pods and pod templates as they were written, of the kinds whose pods a server checks itself."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from policygen.core.finding import At
from policygen.core.label_grammar import key_fault, value_fault
from policygen.kubernetes.cluster import VOLCANO_BATCH, Cluster
from policygen.kubernetes.untyped import mapping, numbered
from policygen.kubernetes.workloads import SHAPES, Workload, found

_GROUPS = ("", "apps", "batch", VOLCANO_BATCH)
"""Operators' kinds are not among them: their servers check no template, but then the pods."""
KINDS = tuple(sorted({kind for group, kind in SHAPES if group in _GROUPS}))


class Part(Struct, frozen=True, eq=False):
    """A piece of an object, as it was written, and where it stands."""

    owner: Workload
    at: At
    data: Mapping[str, Any]

    def under(self, key: str) -> "Part":
        """The mapping under a key; an empty one if there is none."""
        return Part(self.owner, self.at / key, mapping(self.data.get(key)))

    def items(self, key: str) -> "Iterator[Part]":
        """The mappings of a list."""
        for i, each in numbered(self.data, key):
            yield Part(self.owner, self.at.to(key, i), each)


def label_faults(labels: Part) -> Iterator[tuple[str, At]]:
    """The keys and values of a mapping of labels that no server takes, and where they stand."""
    for key, value in labels.data.items():
        if fault := key_fault(key):
            yield f"{labels.owner}: {fault}", (labels.at / key).on_key()
        if isinstance(value, str) and (fault := value_fault(value)):
            yield f"{labels.owner}: {fault}", labels.at / key


def pod_specs(cluster: Cluster) -> Iterator[Part]:
    """The `spec` of each pod or template; one that has none is left out."""
    for workload in cluster.workloads:
        if workload.object.group not in _GROUPS:
            continue
        for path, data, _ in found(workload.object):
            spec = data.get("spec")
            if isinstance(spec, dict):
                yield Part(workload, workload.at.to(*path, "spec"), spec)


def templates(cluster: Cluster) -> Iterator[Part]:
    """Pod templates whole, with their metadata; a Pod is none, the server reads its own."""
    for workload in cluster.workloads:
        if workload.object.group in _GROUPS:
            for path, data, _ in found(workload.object):
                if path:
                    yield Part(workload, workload.at.to(*path), data)


def containers(spec: Part) -> Iterator[Part]:
    """Init containers too."""
    yield from spec.items("initContainers")
    yield from spec.items("containers")


def named(part: Part) -> str:
    """A container in a message."""
    name = part.data.get("name")
    return f"container {name} of {part.owner}" if name else f"a container of {part.owner}"
