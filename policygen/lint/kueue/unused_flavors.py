"""Flavors of ClusterQueues, and GPUs of flavors, of which a queue has no quota and cannot borrow any."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from policygen.core.finding import Path
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.kueue import ClusterQueueView, FlavorQuotas
from policygen.kubernetes.table import Entry
from policygen.lint.kueue.admission_checks import quotas_are_automated
from policygen.lint.kueue.cohorts import CohortNode, forest
from policygen.lint.kueue.flavor_nodes import nodes
from policygen.lint.kueue.missing_cluster_queues import missing_cluster_queues
from policygen.lint.rule import Facts


class UnusedFlavor(Struct, frozen=True, eq=False):
    """What of a flavor a queue can never use."""

    queue: Entry[ClusterQueueView]
    path: Path
    """Its place in the resource groups."""
    flavor: str
    usable: Sequence[str]
    """The resources of the flavor that the queue can use; empty: none."""
    gpu: str = ""
    """The GPUs that it cannot use."""


def unused_flavors(facts: Facts) -> Sequence[UnusedFlavor]:
    """All of them; use it with `facts.derive` and Need.WHOLE. Of queues whose quotas Kueue does not set itself."""
    found = [
        it
        for node in facts.cluster.derive(forest).queues.values()
        if node.queue and not node.cyclic and not all(map(node.ceiling, node.quotas))
        for it in _unused(facts, node, node.queue)
    ]
    missing = facts.derive(missing_cluster_queues) if found else frozenset()
    return () if missing or quotas_are_automated(facts.cluster) else found


def _unused(
    facts: Facts, node: CohortNode, queue: Entry[ClusterQueueView]
) -> Iterator[UnusedFlavor]:
    """Without flavors with a limit above 0, and without groups of which no flavor is usable."""
    for i, group in enumerate(queue.fields.resource_groups):
        usable = [_usable(node, flavor) for flavor in group.flavors]
        for j, (flavor, names) in enumerate(zip(group.flavors, usable, strict=True)):
            path = (i, "flavors", j)
            if not names and any(usable) and not any(it.borrowing_limit for it in flavor.resources):
                yield UnusedFlavor(queue, path, flavor.name, ())
            have = gpus_of(facts, flavor.name) if names else {}
            for k, quota in enumerate(flavor.resources):
                if quota.name in have and quota.nominal_quota == quota.borrowing_limit == 0:
                    yield UnusedFlavor(
                        queue, (*path, "resources", k), flavor.name, names, quota.name
                    )


def _usable(node: CohortNode, flavor: FlavorQuotas) -> list[str]:
    return [it.name for it in flavor.resources if node.ceiling((flavor.name, it.name))]


def gpus_of(facts: Facts, flavor: str) -> Mapping[str, Fraction]:
    """The GPUs that the nodes of a flavor have."""
    own = facts.cluster.derive(nodes).get(flavor)
    return {name: it for name, it in own.total.items() if it and is_one(name)} if own else {}
