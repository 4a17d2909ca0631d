"""Views of the Workloads that Kueue creates for jobs.

Source: apis/kueue/v1beta2 of kubernetes-sigs/kueue v0.19.2.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from policygen.kubernetes.untyped import entries, integer, mapping, mappings, text, texts
from policygen.kubernetes.workloads import PodSpec


class PodSetTemplate(Struct, rename="camel", frozen=True):
    """The pod template of a pod set."""

    spec: PodSpec = PodSpec()


class TopologyRequestView(Struct, rename="camel", frozen=True):
    """In which domains of a topology the pods of a pod set shall run."""

    required: str = ""
    preferred: str = ""
    unconstrained: bool = False
    pod_set_slice_required_topology: str = ""
    pod_set_slice_size: int = 1
    pod_set_group_name: str = ""
    """Pod sets with one name run in the same domains."""
    podset_slice_required_topology_constraints: tuple[Any, ...] = ()
    """Slices of several levels."""


class PodSetView(Struct, rename="camel", frozen=True):
    """Pods of one template of a Workload."""

    name: str = "main"
    count: int = 1
    min_count: int | None = None
    template: PodSetTemplate = PodSetTemplate()
    topology_request: TopologyRequestView | None = None


class WorkloadView(Struct, rename="camel", frozen=True):
    """`spec` of a Workload, which Kueue creates for a job."""

    queue_name: str = ""
    priority: int = 0
    pod_sets: tuple[PodSetView, ...] = ()
    active: bool = True
    """False: Kueue evicts the workload and does not admit it again."""
    maximum_execution_time_seconds: int | None = None
    """After this time Kueue deactivates the workload."""


_MAX_DOMAINS = 100_000
"""Of a slice of a `topologyAssignment`."""


def assigned_domains(assignment: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], int]]:
    """The domains of a `topologyAssignment`: the values of its levels, and the number of pods.

    v1beta1 lists domains, as snapshots do. v1beta2 compresses them; slices that cannot be read are skipped.
    """
    for domain in mappings(assignment, "domains"):
        yield texts(domain, "values"), integer(domain.get("count")) or 0
    for part in mappings(assignment, "slices"):
        size = min(integer(part.get("domainCount")) or 0, _MAX_DOMAINS)
        counts = _of_each(part.get("podCounts"), size)
        levels = [_of_each(it, size) for it in mappings(part, "valuesPerLevel")]
        for values, count in zip(zip(*levels, strict=False), counts, strict=False):
            yield tuple(map(str, values)), integer(count) or 0


def _of_each(values: Any, size: int) -> list[Any]:
    """What a slice says of each of its domains."""
    if "universal" in mapping(values):
        return [mapping(values)["universal"]] * size
    if not isinstance(mapping(values).get("individual"), dict):
        return list(entries(values, "individual"))
    prefix, suffix = (text(values, "individual", it) for it in ("prefix", "suffix"))
    return [f"{prefix}{it}{suffix}" for it in texts(values, "individual", "roots")]
