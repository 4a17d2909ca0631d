"""The quotas of ClusterQueues and Cohorts, each with its place.

Most queues have the same flavors and quotas as many others. A rule about quotas alone is therefore
checked once for all owners with equal `resourceGroups` (`where`, `queues_alike`, `owners_alike`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

import msgspec
from msgspec import Struct

from policygen.core.finding import At
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue import (
    ClusterQueue,
    Cohort,
    FlavorQuotas,
    ResourceGroup,
    ResourceQuota,
)
from policygen.kubernetes.table import Entry

Owner = Entry[ClusterQueue] | Entry[Cohort]


class Placed(Struct, frozen=True, eq=False):
    """One quota and its place."""

    owner: Owner
    at: At
    flavor: str
    quota: ResourceQuota

    @property
    def resource(self) -> str:
        """The resource that it is for."""
        return self.quota.name


class Alike(Struct, frozen=True, eq=False):
    """Owners of one kind with equal `resourceGroups`."""

    owners: Sequence[Owner]
    """At least one."""

    @property
    def groups(self) -> tuple[ResourceGroup, ...]:
        """The `resourceGroups` of all owners."""
        return self.owners[0].it.resource_groups

    def at(self, *steps: str | int) -> Iterator[tuple[Owner, At]]:
        """Each owner, and a place within its `resourceGroups`."""
        for owner in self.owners:
            yield owner, owner.at.to("spec", "resourceGroups", *steps)


def owners(cluster: Cluster) -> Iterator[Owner]:
    """All ClusterQueues and Cohorts."""
    yield from cluster.cluster_queues
    yield from cluster.cohorts


def flavors(owner: Owner) -> Iterator[tuple[At, FlavorQuotas]]:
    """The flavors of an owner, each with its place."""
    for i, group in enumerate(owner.it.resource_groups):
        for j, flavor in enumerate(group.flavors):
            yield owner.at.to("spec", "resourceGroups", i, "flavors", j), flavor


def quotas(owner: Owner) -> Iterator[Placed]:
    """The quotas of an owner, each with its place."""
    for at, flavor in flavors(owner):
        for k, quota in enumerate(flavor.resources):
            yield Placed(owner, at.to("resources", k), flavor.name, quota)


def promised(cluster: Cluster) -> Mapping[tuple[str, str], Sequence[Placed]]:
    """The nominal quotas that are not zero by flavor and resource; use it with `cluster.derive`."""
    found: dict[tuple[str, str], list[Placed]] = {}
    for owner in owners(cluster):
        for placed in quotas(owner):
            if placed.quota.nominal_quota:
                found.setdefault((placed.flavor, placed.resource), []).append(placed)
    return found


def amounts(quota: ResourceQuota) -> Iterator[tuple[str, Fraction]]:
    """The amounts that a quota names, by field."""
    yield "nominalQuota", quota.nominal_quota
    if quota.borrowing_limit is not None:
        yield "borrowingLimit", quota.borrowing_limit
    if quota.lending_limit is not None:
        yield "lendingLimit", quota.lending_limit


def queues_alike(cluster: Cluster) -> tuple[Alike, ...]:
    """The ClusterQueues, grouped by equal `resourceGroups`; use it with `cluster.derive`."""
    return _alike(cluster.cluster_queues)


def owners_alike(cluster: Cluster) -> tuple[Alike, ...]:
    """The ClusterQueues and Cohorts, grouped by kind and equal `resourceGroups`."""
    return (*cluster.derive(queues_alike), *_alike(cluster.cohorts))


def where(among: Iterable[Alike], holds: Callable[[Placed], bool]) -> Iterator[Placed]:
    """The quotas for which `holds` returns true, of all owners. `holds` must not use the owner."""
    for alike in among:
        for placed in quotas(alike.owners[0]):
            if holds(placed):
                steps = placed.at.path[len(alike.owners[0].at.path) :]
                for owner in alike.owners:
                    yield Placed(owner, owner.at.to(*steps), placed.flavor, placed.quota)


def _alike(owners: Iterable[Owner]) -> tuple[Alike, ...]:
    found: dict[bytes, list[Owner]] = {}
    known: dict[int, list[Owner]] = {}  # most are one object, see spec.shared
    for owner in owners:
        groups = (owner.object.data.get("spec") or {}).get("resourceGroups")
        if id(groups) not in known:
            known[id(groups)] = found.setdefault(msgspec.json.encode(groups), [])
        known[id(groups)].append(owner)
    return tuple(map(Alike, found.values()))
