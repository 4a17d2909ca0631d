"""The containers of all workloads with their places, and the LimitRanges that apply to them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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


def amounts(cluster: Cluster) -> Mapping[str, Sequence[tuple[Fraction, Sequence[int]]]]:
    """The distinct amounts of each resource in the requests and limits of containers, with their users.

    They are much fewer than containers, so a rule first finds out here which amounts are wrong. The
    users are indexes into `containers`.
    """
    return cluster.derive(_amounts)


def having(
    cluster: Cluster, resources: Iterable[str], is_wrong: Callable[[Fraction], bool]
) -> list[PlacedContainer]:
    """The containers with such an amount of any of these resources, in the order of `containers`."""
    known, every = amounts(cluster), containers(cluster)
    found: set[int] = set()
    for name in resources:
        for amount, users in known.get(name, ()):
            if is_wrong(amount):
                found.update(users)
    return [every[i] for i in sorted(found)]


def _amounts(cluster: Cluster) -> Mapping[str, Sequence[tuple[Fraction, Sequence[int]]]]:
    # Equal texts usually have the same object.
    known: dict[tuple[str, int], tuple[Fraction, list[int]]] = {}
    for i, placed in enumerate(containers(cluster)):
        resources = placed.container.resources
        for each in (resources.limits, resources.requests):
            for name, amount in each.items():
                key = name, id(amount)
                if key in known:
                    known[key][1].append(i)
                else:
                    known[key] = amount, [i]
    found: dict[str, list[tuple[Fraction, Sequence[int]]]] = {}
    for (name, _), pair in known.items():
        found.setdefault(name, []).append(pair)
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
