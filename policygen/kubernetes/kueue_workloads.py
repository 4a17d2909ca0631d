"""Views of the Workloads that Kueue creates for jobs.

Source: apis/kueue/v1beta2 of kubernetes-sigs/kueue v0.19.2.
"""

from typing import Any

from msgspec import Struct

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
