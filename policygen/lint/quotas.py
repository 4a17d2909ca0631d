"""The quotas of ClusterQueues and Cohorts, each with its place."""

from collections.abc import Iterator
from fractions import Fraction

from msgspec import Struct

from policygen.cluster.kueue import ClusterQueue, Cohort, FlavorQuotas, ResourceQuota
from policygen.cluster.table import Entry
from policygen.cluster.view import Cluster
from policygen.finding import At

Owner = Entry[ClusterQueue] | Entry[Cohort]


class Placed(Struct, frozen=True, eq=False):
    """One quota, and where it stands."""

    owner: Owner
    at: At
    flavor: str
    quota: ResourceQuota

    @property
    def resource(self) -> str:
        """The resource that it is for."""
        return self.quota.name


def owners(cluster: Cluster) -> Iterator[Owner]:
    """All that has quotas."""
    yield from cluster.cluster_queues
    yield from cluster.cohorts


def flavors(owner: Owner) -> Iterator[tuple[At, FlavorQuotas]]:
    """Its flavors, each with its place."""
    for i, group in enumerate(owner.it.resource_groups):
        for j, flavor in enumerate(group.flavors):
            yield owner.at.to("spec", "resourceGroups", i, "flavors", j), flavor


def quotas(owner: Owner) -> Iterator[Placed]:
    """Its quotas, each with its place."""
    for at, flavor in flavors(owner):
        for k, quota in enumerate(flavor.resources):
            yield Placed(owner, at.to("resources", k), flavor.name, quota)


def amounts(quota: ResourceQuota) -> Iterator[tuple[str, Fraction]]:
    """The amounts that a quota names, by field."""
    yield "nominalQuota", quota.nominal_quota
    if quota.borrowing_limit is not None:
        yield "borrowingLimit", quota.borrowing_limit
    if quota.lending_limit is not None:
        yield "lendingLimit", quota.lending_limit
