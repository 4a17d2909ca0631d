"""The guarantees and limits that a spec states for pools without Kueue, whose objects do not have all of them."""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct, field

from policygen.kubernetes.accelerators import is_one
from policygen.plan.tree import TeamNode, Tree

QuotaKey = tuple[str, str, str]
"""A team or group, a pool, and a resource of its accelerators."""
StatedQuotas = Mapping[QuotaKey, tuple[int, int]]
"""Guarantee and limit."""


class SpecQuotas(Struct, frozen=True, eq=False):
    """What a spec states for pools of Volcano and of kube-scheduler."""

    teams: StatedQuotas = field(default_factory=dict)
    """By team with a namespace."""
    groups: StatedQuotas = field(default_factory=dict)
    """By queue of Volcano with other queues below it: `Queue corp.h100`."""


def spec_quotas(trees: Iterable[Tree]) -> SpecQuotas:
    """The quotas of trees of teams, except those of Kueue, whose ClusterQueues have the same numbers.

    Volcano's queues have the amount that they deserve, which can be above the guarantee.
    """
    teams: dict[QuotaKey, tuple[int, int]] = {}
    groups: dict[QuotaKey, tuple[int, int]] = {}
    for tree in trees:
        if tree.scheduler == "kueue":
            continue
        for node in tree.leaves:
            if node.team.namespaces:
                teams.update(_of(node, node.team.name))
        for node in tree.nodes if tree.scheduler == "volcano" else ():
            if not node.leaf:
                groups.update(_of(node, f"Queue {tree.name_of(node)}"))
    return SpecQuotas(teams, groups)


def _of(node: TeamNode, name: str) -> Iterator[tuple[QuotaKey, tuple[int, int]]]:
    for pool, amounts in node.guarantee.items():
        for resource, guarantee in amounts.items():
            if is_one(resource):
                yield (name, pool, resource), (guarantee, node.limit[pool][resource])
