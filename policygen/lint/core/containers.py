"""The containers of all workloads with their places, and the LimitRanges that apply to them."""

from collections.abc import Iterator, Mapping, Sequence
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


def amounts(cluster: Cluster) -> Mapping[str, Sequence[Fraction]]:
    """The distinct amounts of each resource in the requests and limits of containers.

    They are much fewer than containers, so a rule first finds out here whether any amount is wrong.
    """
    return cluster.derive(_amounts)


def _amounts(cluster: Cluster) -> Mapping[str, Sequence[Fraction]]:
    known: dict[tuple[str, int], Fraction] = {}
    for placed in containers(cluster):
        resources = placed.container.resources
        for each in (resources.limits, resources.requests):
            for name, amount in each.items():
                known[name, id(amount)] = amount  # equal texts usually have the same object
    found: dict[str, list[Fraction]] = {}
    for (name, _), amount in known.items():
        found.setdefault(name, []).append(amount)
    return found


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
        limit = container.resources.limits.get(name)
        # Equal texts have the same object.
        if limit is not amount and not overcommitted(name) and limit != amount:
            yield name, amount
