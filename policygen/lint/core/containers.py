"""The containers of all workloads with their places, and the LimitRanges that apply to them."""

from collections.abc import Iterator
from fractions import Fraction

from msgspec import Struct

from policygen.core.finding import At, Path
from policygen.core.standard_resources import overcommitted
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.workloads import Container, PodTemplate, Workload


class PlacedContainer(Struct, frozen=True, eq=False):
    """A container."""

    workload: Workload
    template: PodTemplate
    path: Path
    """Its path in the pod spec."""
    container: Container

    @property
    def at(self) -> At:
        """Its place."""
        return self.template.at.to("spec", *self.path)

    def __str__(self) -> str:
        return f"container {self.container.name} of {self.workload}"


def containers(cluster: Cluster) -> tuple[PlacedContainer, ...]:
    """All containers; in each template, init containers are last."""
    return cluster.derive(_containers)


def _containers(cluster: Cluster) -> tuple[PlacedContainer, ...]:
    return tuple(
        PlacedContainer(workload, template, path, container)
        for workload in cluster.workloads
        for template in workload.templates
        for path, container in paths(template)
    )


def paths(template: PodTemplate) -> Iterator[tuple[Path, Container]]:
    """The containers of a pod template, each with its path in the pod spec; init containers last."""
    for i, container in enumerate(template.spec.containers):
        yield ("containers", i), container
    for i, container in enumerate(template.spec.init_containers):
        yield ("initContainers", i), container


def without_equal_limit(container: Container) -> Iterator[tuple[str, Fraction]]:
    """The requests of resources that cannot be overcommitted, but have no equal limit.

    Source: pkg/apis/core/validation/validation.go, ValidateContainerResourceRequirements.
    """
    for name, amount in container.resources.requests.items():
        if overcommitted(name):
            continue
        limit = container.resources.limits.get(name)
        if limit is not amount and limit != amount:  # equal texts have the same object
            yield name, amount
