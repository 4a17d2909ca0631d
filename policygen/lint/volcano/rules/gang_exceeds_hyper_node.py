"""A gang with a hard network topology fits into no HyperNode of the tiers that it allows."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.amounts import summed, with_gpus
from policygen.core.finding import At
from policygen.core.quoting import bare, counted, listed
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.cluster import VOLCANO_BATCH
from policygen.kubernetes.object import Object
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import entries, integer, mapping, text
from policygen.kubernetes.volcano import PodGroupView
from policygen.kubernetes.workloads import KINDS, Workload, is_checked
from policygen.lint.core.known_nodes import node_index
from policygen.lint.core.pod_demands import READS
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano import jobs, queues
from policygen.lint.volcano.configuration import settings
from policygen.lint.volcano.gang_rooms import GangPods, GangRoom, gang_pods
from policygen.lint.volcano.hyper_nodes import HyperNode, hyper_nodes, is_tree
from policygen.lint.volcano.rules import hyper_node_member_missing

_RULE_OF_MEMBERS = hyper_node_member_missing.RULE.name


class _Gang(Struct, frozen=True, eq=False):
    owner: str
    at: At
    """The place of its topology."""
    topology: Mapping[str, Any]
    pods: GangPods


def check(facts: Facts) -> Hits:
    """The scheduler tries only HyperNodes up to highestTierAllowed, and no nodes outside of HyperNodes.

    Above the highest tier of a HyperNode, it uses all nodes. Nodes count as empty. Without HyperNodes in
    the input, a controller may create them. A HyperNode in two others stops all gangs with a topology.

    Source: pkg/scheduler/plugins/network-topology-aware, hyperNodeGradientFn, and
    pkg/scheduler/framework/session.go, addClusterTopHyperNode, of Volcano 1.14.1.
    """
    every = facts.derive(hyper_nodes)
    if not every or not facts.cluster.nodes.any or not _decides(facts) or not is_tree(facts):
        return
    whole = facts.derive(node_index).all
    for gang in _gangs(facts):
        tier = _highest_tier(gang.topology, every)
        if tier is None or tier > max(it.tier for it in every):
            continue
        allowed = [it for it in every if it.tier <= tier]
        if _RULE_OF_MEMBERS in facts.run and not all(it.is_complete for it in allowed):
            continue  # with these nodes, it may fit
        room = GangRoom(facts, gang.pods)
        allowed.sort(key=lambda it: it.nodes.bit_count(), reverse=True)
        if room.holds(whole) and all(room.holds(it.nodes) is False for it in allowed):
            yield _hit(gang, tier, allowed, every, room)


def _decides(facts: Facts) -> bool:
    """Whether the plugins that compare gangs with HyperNodes are not known to be missing."""
    configuration = settings(facts)
    if configuration is None:
        return True
    plugin = configuration.plugin("network-topology-aware")
    gang = configuration.plugin("gang")
    return gang is not None and plugin is not None and plugin.on("enabledHyperNodeGradient")


def _highest_tier(topology: Mapping[str, Any], every: Sequence[HyperNode]) -> int | None:
    """The highest tier that a hard topology allows; None: it allows all, or the tier is not known."""
    if topology.get("mode", "hard") != "hard":
        return None
    name = text(topology, "highestTierName")
    if not name:
        return integer(topology.get("highestTierAllowed"))
    tiers = _tiers(name, every)
    return tiers.pop() if len(tiers) == 1 else None


def _tiers(name: str, every: Sequence[HyperNode]) -> set[int]:
    """The tiers with a name."""
    return {it.tier for it in every if it.entry.fields.tier_name == name}


def _gangs(facts: Facts) -> Iterator[_Gang]:
    """Jobs and PodGroups with a network topology whose pods are known, without subgroups."""
    cluster = facts.cluster
    for workload in cluster.workloads_of(VOLCANO_BATCH):
        topology = mapping(workload.spec, "networkTopology")
        waits = topology and not _runs(workload.object)
        pods = _pods_of_job(facts, workload) if waits else None
        if pods is not None:
            yield _Gang(str(workload), workload.at.to("spec", "networkTopology"), topology, pods)
    for group in cluster.pod_groups:
        topology, obj = group.fields.network_topology or {}, group.object
        subgroups = entries(obj.data, "spec", "subGroupPolicy")
        if topology and is_checked(obj) and not _runs(obj) and not subgroups:
            pods = _pods_of_group(facts, group)
            if pods is not None:
                yield _Gang(str(group), group.at.to("spec", "networkTopology"), topology, pods)


def _runs(it: Object) -> bool:
    """Whether a gang of a cluster has started, on nodes that were in other HyperNodes then."""
    return "Running" in (
        text(it.data, "status", "phase"),
        text(it.data, "status", "state", "phase"),
    )


def _pods_of_group(facts: Facts, group: Entry[PodGroupView]) -> GangPods | None:
    """The pods that name a PodGroup, or only what it declares."""
    found = facts.cluster.derive(queues.groups).get((group.namespace, group.name), ())
    templates = [template for _, template in found]
    declared = queues.counted(group.fields.min_resources or {})
    if not templates:
        return GangPods({}, 0, declared) if declared else None
    if not all(map(queues.to_volcano, templates)):
        return None
    pods = gang_pods(facts, templates, [0] * len(templates), group.fields.min_member)
    return pods and replace(pods, declared=declared)


def _pods_of_job(facts: Facts, workload: Workload) -> GangPods | None:
    spec = jobs.spec_of(workload)
    tasks = [task for _, task in jobs.tasks(spec)]
    least = [jobs.task_minimum(it) for it in tasks]
    known = [it for it in least if it is not None]
    needed = jobs.min_available(spec)
    odd = any(it.data.get("dependsOn") or it.data.get("partitionPolicy") for it in tasks)
    odd = odd or any(workload.scheduler_name(it) != queues.SCHEDULER for it in workload.templates)
    if odd or needed is None or len(known) != len(workload.templates):
        return None
    if sum(known) > needed:
        known = [0] * len(known)  # the scheduler then ignores them
    return gang_pods(facts, workload.templates, known, needed)


def _hit(
    gang: _Gang,
    tier: int,
    allowed: Sequence[HyperNode],
    every: Sequence[HyperNode],
    room: GangRoom,
) -> Hit:
    key = "highestTierName" if text(gang.topology, "highestTierName") else "highestTierAllowed"
    pods, needs = gang.pods.number, room.needs
    largest = max(allowed, key=lambda it: _size(room, it), default=None)
    short: dict[str, Fraction] = {}
    if largest is None:
        limit = f"the lowest tier of a HyperNode is {min(it.tier for it in every)}"
    elif (most := room.most(largest.nodes)) < pods:
        limit = f"has room for only {most} of them" if most else "has no room for them"
    else:
        sums = {name: room.sum_of(name, largest.nodes) for name in needs}
        short = {name: it for name, it in sums.items() if it is not None and it < needs[name]}
        have = [with_gpus(*it) for it in short.items()]
        limit = f"has only {listed(have, 'and')}" if have else "has no room for all of them"
    if largest is not None:
        limit = f"the largest, {largest.entry.name}, {limit}"
    names = [it for it in needs if is_one(it) or it in short] or ([] if pods else [*needs])
    amounts = [with_gpus(it, needs[it]) for it in names]
    parts = [counted(pods, "pod")] if pods else []
    parts += [listed(amounts, "and")] if amounts else []
    return Hit(
        RULE,
        f"{gang.owner} needs {' with '.join(parts)} at once in one HyperNode of tier {tier} or lower, but {limit}, "
        f"so the gang waits forever; {_remedy(key, tier, every, room)}",
        gang.at / key,
        () if largest is None else (largest.entry.at.to("spec", "members"),),
    )


def _size(room: GangRoom, it: HyperNode) -> tuple[int, Fraction]:
    sums = (room.sum_of(name, it.nodes) for name in room.needs if is_one(name))
    return room.most(it.nodes), summed(each for each in sums if each is not None)


def _remedy(key: str, tier: int, every: Sequence[HyperNode], room: GangRoom) -> str:
    """The smallest tier with a HyperNode that certainly holds the gang, or mode soft."""
    higher = sorted((it for it in every if it.tier > tier), key=lambda it: it.tier)
    fitting = next((it for it in higher if it.is_known and room.holds(it.nodes)), None)
    if fitting is None:
        return "no HyperNode has room for it, so set mode to soft"
    name = fitting.entry.fields.tier_name
    if key == "highestTierName" and name and _tiers(name, every) == {fitting.tier}:
        return f"set {key} to {bare(name)}, or mode to soft"
    if key == "highestTierName":
        return f"write highestTierAllowed: {fitting.tier} instead of {key}, or set mode to soft"
    return f"set {key} to {fitting.tier}, or mode to soft"


RULE = ObjectRule(
    "gang-exceeds-hyper-node",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Raise the highest allowed tier, set mode to soft, or shrink the gang.",
    judges=("Job", "PodGroup"),
    check=check,
    needs=frozenset({Need.WHOLE, Need.NODES}),
    reads=tuple(dict.fromkeys(("HyperNode", *READS, *KINDS))),
)
