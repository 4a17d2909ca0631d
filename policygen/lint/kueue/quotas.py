"""The quotas of ClusterQueues and Cohorts, each with its place."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain

from msgspec import Struct

from policygen.core.amounts import BYTES
from policygen.core.finding import At
from policygen.core.quantity import MEBIBYTE
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue import (
    ClusterQueueView,
    CohortView,
    FlavorQuotas,
    FlavorResourceQuota,
)
from policygen.kubernetes.table import Entry

Owner = Entry[ClusterQueueView] | Entry[CohortView]


class PlacedQuota(Struct, frozen=True, eq=False):
    """One quota and its place."""

    owner: Owner
    at: At
    flavor: str
    quota: FlavorResourceQuota

    @property
    def resource(self) -> str:
        """The resource that it is for."""
        return self.quota.name


def lacks_unit(quota: FlavorResourceQuota) -> bool:
    """Whether it is an amount of memory or storage that was certainly meant in another unit than bytes."""
    amount = quota.nominal_quota
    integer = amount.denominator == 1  # quota-fractional reports the others
    return quota.name in BYTES and 0 < amount < MEBIBYTE and integer


def owners(cluster: Cluster) -> Iterator[Owner]:
    """All ClusterQueues and Cohorts."""
    yield from cluster.cluster_queues
    yield from cluster.cohorts


def parents(cluster: Cluster) -> Iterator[tuple[Owner, str, str]]:
    """All ClusterQueues and Cohorts, each with its cohort, or an empty name, and the field for it."""
    for queue in cluster.cluster_queues:
        yield queue, queue.fields.cohort_name, "cohortName"
    for cohort in cluster.cohorts:
        yield cohort, cohort.fields.parent_name, "parentName"


def groups_at(owner: Owner, *steps: str | int) -> At:
    """A place within the `resourceGroups` of an owner."""
    return owner.at.to("spec", "resourceGroups", *steps)


def flavors(owner: Owner) -> Iterator[tuple[At, FlavorQuotas]]:
    """The flavors of an owner, each with its place."""
    for i, group in enumerate(owner.fields.resource_groups):
        for j, flavor in enumerate(group.flavors):
            yield groups_at(owner, i, "flavors", j), flavor


def covered_resources(owner: Owner) -> Iterator[tuple[At, str]]:
    """The resources that an owner covers, each with its place."""
    for i, group in enumerate(owner.fields.resource_groups):
        for j, name in enumerate(group.covered_resources):
            yield groups_at(owner, i, "coveredResources", j), name


def quotas(owner: Owner) -> Iterator[PlacedQuota]:
    """The quotas of an owner, each with its place."""
    for at, flavor in flavors(owner):
        for k, quota in enumerate(flavor.resources):
            yield PlacedQuota(owner, at.to("resources", k), flavor.name, quota)


def every_quota(owners: Iterable[Owner]) -> Iterator[PlacedQuota]:
    """The quotas of all these owners, each with its place."""
    return chain.from_iterable(map(quotas, owners))


def nominal_quotas(cluster: Cluster) -> Mapping[tuple[str, str], Sequence[PlacedQuota]]:
    """The nominal quotas that are not zero by flavor and resource; use it with `cluster.derive`."""
    found: dict[tuple[str, str], list[PlacedQuota]] = {}
    for owner in owners(cluster):
        for placed in quotas(owner):
            if placed.quota.nominal_quota:
                found.setdefault((placed.flavor, placed.resource), []).append(placed)
    return found


def left_of(have: Fraction, others: Fraction) -> Fraction:
    """What other quotas leave of the nodes, or all of these if the others use them too."""
    return have - others if others < have else have


def amounts(quota: FlavorResourceQuota) -> Iterator[tuple[str, Fraction]]:
    """The amounts that a quota names, by field."""
    yield "nominalQuota", quota.nominal_quota
    if quota.borrowing_limit is not None:
        yield "borrowingLimit", quota.borrowing_limit
    if quota.lending_limit is not None:
        yield "lendingLimit", quota.lending_limit
