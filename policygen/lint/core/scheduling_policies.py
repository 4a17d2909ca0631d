"""The schedulingPolicy of training jobs of Kubeflow, from which their operators make a PodGroup.

Source: pkg/controller.v1/common/job.go of training-operator 1.9.3; pkg/controller/podgroup.go of mpi-operator 0.8.2.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from policygen.core.finding import At
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.untyped import mapping
from policygen.kubernetes.workloads import Workload

_PATH = ("runPolicy", "schedulingPolicy")


class WrittenPolicy(Struct, frozen=True, eq=False):
    """A schedulingPolicy with fields."""

    workload: Workload
    data: Mapping[str, Any]

    def at(self, field: str) -> At:
        """The place of a field."""
        return self.workload.at.to("spec", *_PATH, field)


def scheduling_policies(cluster: Cluster) -> Iterator[WrittenPolicy]:
    """Those of all training jobs. Operators use them only if they schedule gangs (`--gang-scheduler-name`)."""
    for workload in cluster.workloads_of("kubeflow.org"):
        data = mapping(workload.spec, *_PATH)
        if data:
            yield WrittenPolicy(workload, data)
