"""Notes on what the rendered objects need elsewhere: controller configuration, feature gates, flags."""

from collections.abc import Container, Iterator, Mapping, Sequence

from policygen.core import versions
from policygen.core.finding import Hit
from policygen.core.quoting import listed
from policygen.plan import kueue_configuration, rules, scheduler
from policygen.plan.assignment import Assignment
from policygen.plan.extras import (
    ADMISSION,
    DEVICE_PLUGIN,
    KUEUE_CONFIG,
    MIG_MANAGER,
    MONITORING,
    NODE_AUTOSCALER,
    SECOND_SCHEDULER,
    VOLCANO_CONFIG,
    VPA,
    WORKLOADS,
)
from policygen.plan.pool import PoolFacts
from policygen.plan.tree import Tree
from policygen.spec.types import Scheduler, Spec


def of_kueue(
    spec: Spec, trees: Sequence[Tree], assignments: Sequence[Assignment], extras: frozenset[str]
) -> Iterator[Hit]:
    """Fields of Kueue's Configuration, feature gates, and waiting that no event shows."""
    queues = [tree for tree in trees if tree.scheduler == "kueue"]
    mine = [facts for tree in queues for facts in tree.pools]
    if any(
        node.team.max_pending is not None and node.team.namespaces
        for tree in queues
        for node in tree.nodes
    ):
        yield Hit(
            rules.MAX_PENDING_IS_SILENT,
            "maxPending counts waiting, running and finished workloads; when it is reached, a new "
            "Job waits without a Workload and without an event; set ttlSecondsAfterFinished on "
            "Jobs",
        )
    # The option merges into a file that the Platform names.
    named = spec.platform.kueue.configuration is not None
    first = "" if named else "name Kueue's file in spec.kueue.configuration of the Platform, and "
    if KUEUE_CONFIG not in extras:
        if kueue_configuration.weights_differ(trees):
            yield Hit(
                rules.FAIR_SHARING_NEEDED,
                "weights have no effect unless Kueue's Configuration enables fairSharing; "
                f"{first}enable it with `render --with {KUEUE_CONFIG}`",
            )
        if spec.platform.target.kueue.release < versions.KUEUE_WAITS and any(
            assignment.model.gang
            and assignment.facts.scheduler == "kueue"
            and assignment.facts.policy.gang_scheduling
            for assignment in assignments
        ):
            yield Hit(
                rules.WAIT_FOR_PODS_READY_NEEDED,
                "the pods of a gang start together only if Kueue's Configuration sets "
                f"waitForPodsReady; {first}set it with `render --with {KUEUE_CONFIG}`",
            )
    yield from _of_topologies(spec, mine)
    yield from _of_waiting(spec, mine)


def _of_topologies(spec: Spec, mine: Sequence[PoolFacts]) -> Iterator[Hit]:
    """The feature gate that older releases need, and topology-aware pools without levels."""
    aware = [facts for facts in mine if facts.policy.topology_aware]
    if aware and spec.platform.target.kueue.release < versions.KUEUE_TOPOLOGY_GATE:
        yield Hit(
            rules.TOPOLOGY_GATE_NEEDED,
            f"Kueue {spec.platform.target.kueue} ignores topologies unless its feature gate "
            "TopologyAwareScheduling is enabled; enable the feature gate",
        )
    for facts in aware:
        if not facts.pool.topology_levels:
            yield Hit(
                rules.TOPOLOGY_BY_NODE,
                f'pool "{facts.name}" is topologyAware but has no topology.levels, so the node is '
                "the only level, and Kueue does not know racks or blocks; write topology.levels, the "
                "widest level first",
                (facts.pool.at / "spec" / "schedulingPolicy").on_key(),
            )


def _of_waiting(spec: Spec, mine: Sequence[PoolFacts]) -> Iterator[Hit]:
    """Pools without gang scheduling, where Kueue waits for all pods of a workload by default."""
    if spec.platform.target.kueue.release < versions.KUEUE_WAITS:
        return
    for facts in mine:
        if not facts.policy.gang_scheduling:
            yield Hit(
                rules.GANG_SCHEDULING_FALSE_IGNORED,
                f'pool "{facts.name}" has gangScheduling: false, but Kueue '
                f"{spec.platform.target.kueue} still evicts a workload whose pods are not all "
                "ready after 30 minutes; enable Kueue's feature gate DisableWaitForPodsReady",
                (facts.pool.at / "spec" / "schedulingPolicy").on_key(),
            )


_SCHEDULER_OF: Mapping[str, Scheduler] = {KUEUE_CONFIG: "kueue", VOLCANO_CONFIG: "volcano"}


def unused_extras(pools: Sequence[PoolFacts], extras: frozenset[str]) -> Iterator[Hit]:
    """Configurations requested with --with that no pool needs."""
    for extra, name in _SCHEDULER_OF.items():
        if extra in extras and not any(facts.scheduler == name for facts in pools):
            message = (
                f"--with {extra} has no effect, because no pool is scheduled by {name}; remove "
                "the option"
            )
            yield Hit(rules.INERT_OPTION, message)
    if SECOND_SCHEDULER in extras and not any(
        facts.policy.bin_pack or facts.policy.spread for facts in scheduler.placed(pools)
    ):
        message = (
            f"--with {SECOND_SCHEDULER} has no effect, because no pool sets binPack or spread; "
            "remove the option"
        )
        yield Hit(rules.INERT_OPTION, message)


_EMPTY: Mapping[str, str] = {
    ADMISSION: "the spec has no team",
    DEVICE_PLUGIN: "no pool shares or divides its GPUs",
    MIG_MANAGER: "no pool has MIG instances of a known GPU product",
    MONITORING: "the spec has no pool",
    NODE_AUTOSCALER: "no pool has autoscaler.nodeGroups or autoscaler.nodeClass",
    VPA: "no model of a team runs as an object that a VerticalPodAutoscaler can observe",
    WORKLOADS: "no model of a team fits a pool",
}
"""Why an option renders nothing."""


def empty_extras(extras: frozenset[str], rendered: Container[str]) -> Iterator[Hit]:
    """Options of --with of whose families nothing is rendered."""
    for extra, reason in _EMPTY.items():
        if extra in extras and extra not in rendered:
            message = f"--with {extra} renders nothing, because {reason}; remove the option"
            yield Hit(rules.INERT_OPTION, message)


def of_volcano(pools: Sequence[PoolFacts], extras: frozenset[str]) -> Iterator[Hit]:
    """The scheduler configuration that makes the queues take effect, and separate nodes."""
    mine = [facts for facts in pools if facts.scheduler == "volcano"]
    if not mine:
        return
    if VOLCANO_CONFIG not in extras:
        yield Hit(
            rules.VOLCANO_CONFIG_NEEDED,
            "Volcano's default configuration ignores guarantees and the team tree, and does not "
            f"pack GPUs; apply the configuration that `render --with {VOLCANO_CONFIG}` writes",
        )
    if len(mine) < len(pools):
        yield Hit(rules.VOLCANO_NODE_SELECTOR, _node_selector(mine, pools))


def _node_selector(mine: Sequence[PoolFacts], pools: Sequence[PoolFacts]) -> str:
    """How to separate the nodes of Volcano's pools: the option takes a node with any of its labels."""
    others = {it for facts in pools if facts not in mine for it in facts.pool.node_selector}
    own = {facts.name: sorted(set(facts.pool.node_selector) - others) for facts in mine}
    if alike := sorted(name for name, labels in own.items() if not labels):
        return (
            "Volcano also counts the nodes of other pools, and only its option --node-selector can "
            "exclude them; it takes a node with any of its labels, so write a label that no pool of "
            f"another scheduler has in spec.nodeSelector of {listed(alike, 'and')}"
        )
    selectors = ",".join(sorted({f"{key}:{value}" for ((key, value), *_) in own.values()}))
    return (
        "Volcano also counts the nodes of other pools; start Volcano's scheduler with "
        f"--node-selector={selectors}"
    )


def of_kube_scheduler(
    spec: Spec, pools: Sequence[PoolFacts], extras: frozenset[str]
) -> Iterator[Hit]:
    """A scheduler that loads the profiles, and how reliably they pack."""
    chosen = list(scheduler.profiles(spec.platform, pools))
    if chosen and SECOND_SCHEDULER not in extras:
        names = " and ".join(profile.scheduler_name for profile, _ in chosen)
        yield Hit(
            rules.SCHEDULER_PROFILES_NOT_LOADED,
            f"scheduler profiles {names} have no effect until a scheduler loads them; use `render "
            f"--with {SECOND_SCHEDULER}`, or start the main kube-scheduler with the output of "
            "`render --raw-scheduler-config`",
        )
    for profile, margin in chosen:
        if profile.strategy == "MostAllocated":
            yield Hit(
                rules.PACKING_MARGIN,
                f"profile {profile.scheduler_name} packs GPUs: the node with one more GPU in use "
                f"always wins, by at least {margin} points",
            )
