"""Pods in pools that a spec packs, but without the scheduler profile of the pool."""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from policygen.core.names import DEFAULT_SCHEDULER
from policygen.kubernetes.node_groups import NodeSet
from policygen.kubernetes.node_index import NodeIndex
from policygen.lint.core.pod_demands import PodDemand, pod_demands
from policygen.lint.rule import Facts
from policygen.lint.scheduler.scoring import gpu_schedulers, profiles


class Unpacked(Struct, frozen=True, eq=False):
    """Pods without a schedulerName that can only use pools of one packing profile."""

    pods: PodDemand
    pools: tuple[str, ...]
    profile: str


def unpacked(facts: Facts) -> Mapping[int, Unpacked]:
    """One for each workload, by its id; use it with `facts.derive`.

    Without pods with all GPUs of a node: they need an empty node with any profile.
    """
    found: dict[int, Unpacked] = {}
    for it in _unpacked(facts):
        found.setdefault(id(it.pods.workload), it)
    return found


def _unpacked(facts: Facts) -> Iterator[Unpacked]:
    packing = frozenset(_packing(facts))
    if facts.plan is None or facts.spec is None or not packing:
        return
    from policygen.plan.implied_nodes import implied_nodes  # noqa: PLC0415 - only with a spec
    from policygen.plan.scheduler import scheduler_name  # noqa: PLC0415 - the same

    pools = tuple(facts.plan.pools)
    names = [scheduler_name(facts.spec.platform, pool) for pool in pools]
    index = NodeIndex(NodeSet(implied_nodes(pools)))
    for it in facts.derive(pod_demands):
        if it.workload.scheduler_name(it.template):
            continue
        taking = 0
        for way in it.ways:
            taking |= index.takers(way.demand)
        used = [number for number in range(len(pools)) if taking >> number & 1]
        profiles_used = {names[number] for number in used}
        if len(profiles_used) != 1 or profiles_used.isdisjoint(packing):
            continue
        shared = (
            _shares(it, pools[number].resources, pools[number].units_per_node) for number in used
        )
        if any(shared):
            where = tuple(pools[number].name for number in used)
            yield Unpacked(it, where, str(names[used[0]]))


def _packing(facts: Facts) -> Iterator[str]:
    """The profiles that pack; none if the default one does, or packing-profile-unused reports a profile."""
    used = facts.cluster.derive(gpu_schedulers)
    found = [it for it in profiles(facts.cluster) if it.scoring.packs]
    if any(it.name == DEFAULT_SCHEDULER for it in found):
        return
    for it in found:
        is_context = it.owner.at in facts.cluster.context
        if is_context or it.name in used or "packing-profile-unused" not in facts.run:
            yield it.name


def _shares(it: PodDemand, resources: tuple[str, ...], units_per_node: int) -> bool:
    """Whether a pod leaves accelerators of a node for others."""
    amounts = dict(it.ways[0].demand.requests)
    return 0 < sum(amounts.get(name, 0) for name in resources) < units_per_node
