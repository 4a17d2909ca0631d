"""The containers of all workloads with their places, and the LimitRanges that apply to them."""

from collections.abc import Iterator
from fractions import Fraction

from msgspec import Struct

from policygen.core.finding import At
from policygen.core.standard_resources import overcommitted
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.workloads import Container, PodTemplate, Workload


class PlacedContainer(Struct, frozen=True, eq=False):
    """A container."""

    workload: Workload
    template: PodTemplate
    field: str
    """`containers` or `initContainers`."""
    index: int
    container: Container

    @property
    def at(self) -> At:
        """Its place."""
        return self.template.at.to("spec", self.field, self.index)

    def __str__(self) -> str:
        return f"container {self.container.name} of {self.workload}"


def containers(cluster: Cluster) -> tuple[PlacedContainer, ...]:
    """All containers; in each template, init containers are last."""
    return cluster.derive(_containers)


def _containers(cluster: Cluster) -> tuple[PlacedContainer, ...]:
    return tuple(
        PlacedContainer(workload, template, field, index, container)
        for workload in cluster.workloads
        for template in workload.templates
        for field, found in (
            ("containers", template.spec.containers),
            ("initContainers", template.spec.init_containers),
        )
        for index, container in enumerate(found)
    )


def placed(template: PodTemplate) -> Iterator[tuple[At, Container]]:
    """The containers of a pod template, each with its place; init containers last."""
    for i, container in enumerate(template.spec.containers):
        yield template.at.to("spec", "containers", i), container
    for i, container in enumerate(template.spec.init_containers):
        yield template.at.to("spec", "initContainers", i), container


def without_equal_limit(container: Container) -> Iterator[tuple[str, Fraction]]:
    """The requests of resources that cannot be overcommitted, but have no equal limit.

    Source: pkg/apis/core/validation/validation.go, ValidateContainerResourceRequirements.
    """
    for name, amount in container.resources.requests.items():
        if not overcommitted(name) and container.resources.limits.get(name) != amount:
            yield name, amount
