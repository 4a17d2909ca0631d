"""The containers of all workloads with their places, and the LimitRanges that apply to them."""

from collections.abc import Iterator
from fractions import Fraction

from msgspec import Struct

from policygen.core.finding import At
from policygen.core.standard_resources import overcommitted
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.workloads import Container, PodTemplate


class PlacedContainer(Struct, frozen=True, eq=False):
    """A container."""

    owner: str
    namespace: str
    at: At
    container: Container

    def __str__(self) -> str:
        return f"container {self.container.name} of {self.owner}"


def containers(cluster: Cluster) -> tuple[PlacedContainer, ...]:
    """All containers, including init containers."""
    return cluster.derive(_containers)


def _containers(cluster: Cluster) -> tuple[PlacedContainer, ...]:
    return tuple(
        PlacedContainer(str(workload), workload.namespace, at, container)
        for workload in cluster.workloads
        for template in workload.templates
        for at, container in placed(template)
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
