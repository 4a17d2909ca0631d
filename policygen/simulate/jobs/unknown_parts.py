"""What jobs ask for and this simulation does not know."""

from collections.abc import Iterator

from policygen.core.finding import at_path
from policygen.kubernetes.kueue_workloads import WorkloadView
from policygen.kubernetes.untyped import mapping, mappings
from policygen.kubernetes.workloads import Workload


def features(fields: WorkloadView) -> Iterator[str]:
    """What a Workload asks for and this simulation does not know."""
    requests = [it.topology_request for it in fields.pod_sets if it.topology_request is not None]
    if any(it.podset_slice_required_topology_constraints for it in requests):
        yield "slices of several topology levels of Kueue"
    if any(it.pod_set_group_name for it in requests):
        yield "groups of pod sets in one topology domain of Kueue"


def volumes(source: Workload | None) -> Iterator[str]:
    """Whether volumes can keep the pods of an object from nodes."""
    if source is None:
        return
    paths = (it.at.path[len(source.at.path) :] for it in source.templates)
    specs = (mapping(at_path(source.object.data, it), "spec") for it in paths)
    volumes = (it for spec in specs for it in mappings(spec, "volumes"))
    if any(it.get("persistentVolumeClaim") or it.get("ephemeral") for it in volumes):
        yield "volumes that restrict the nodes of pods"
