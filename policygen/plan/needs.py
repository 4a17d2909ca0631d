"""What a set needs from elsewhere: controllers' configuration, feature gates, flags. Notes."""

from collections.abc import Iterator, Mapping, Sequence

from policygen.core import versions
from policygen.core.finding import At, Hit
from policygen.core.rule import Rule
from policygen.plan import kueue_configuration, scheduler
from policygen.plan.extras import KUEUE_CONFIG, SECOND_SCHEDULER, VOLCANO_CONFIG
from policygen.plan.pool import PoolFacts
from policygen.plan.rules import (
    FAIR_SHARING_NEEDED,
    INERT_OPTION,
    MAX_PENDING_IS_SILENT,
    PACKING_MARGIN,
    SCHEDULER_PROFILES_UNREAD,
    TOPOLOGY_BY_NODE,
    TOPOLOGY_GATE_NEEDED,
    VOLCANO_CONFIG_NEEDED,
    VOLCANO_NODE_SELECTOR,
    WAIT_FOR_PODS_READY_NEEDED,
    WAITS_FOR_PODS_ANYWAY,
)
from policygen.plan.tree import Tree
from policygen.plan.workloads import Assignment
from policygen.spec.types import Scheduler, Spec


def note(rule: Rule, message: str, at: At | None = None) -> Hit:
    """A finding that is no fault."""
    return Hit(rule, message, at)


def of_kueue(
    spec: Spec, trees: Sequence[Tree], assignments: Sequence[Assignment], extras: frozenset[str]
) -> Iterator[Hit]:
    """Stanzas of Kueue's Configuration, gates, and what its queues keep silent about."""
    queues = [tree for tree in trees if tree.scheduler == "kueue"]
    mine = [facts for tree in queues for facts in tree.pools]
    if any(
        node.team.max_pending is not None and node.team.namespaces
        for tree in queues
        for node in tree.nodes
    ):
        yield note(
            MAX_PENDING_IS_SILENT,
            "maxPending counts workloads that wait or run, and ended ones until their Jobs are "
            "deleted (ttlSecondsAfterFinished): above it a Job is accepted and waits outside the "
            "queue, without a Workload and without an event, until another goes",
        )
    if KUEUE_CONFIG not in extras:
        if kueue_configuration.weights_differ(trees):
            yield note(
                FAIR_SHARING_NEEDED,
                "weights differ, and Kueue heeds them only with fairSharing "
                "{preemptionStrategies: [LessThanOrEqualToFinalShare, LessThanInitialShare]} in "
                f"its Configuration; render --with {KUEUE_CONFIG} writes it",
            )
        if spec.platform.target.kueue.release < versions.KUEUE_WAITS and any(
            assignment.model.gang
            and assignment.facts.scheduler == "kueue"
            and assignment.facts.policy.gang_scheduling
            for assignment in assignments
        ):
            yield note(
                WAIT_FOR_PODS_READY_NEEDED,
                "gangs on Kueue pools start whole only with waitForPodsReady in its "
                f"Configuration; render --with {KUEUE_CONFIG} writes it",
            )
    yield from _of_topologies(spec, mine)
    yield from _of_waiting(spec, mine)


def _of_topologies(spec: Spec, mine: Sequence[PoolFacts]) -> Iterator[Hit]:
    """The gate behind which older releases hide them, and pools that name no levels."""
    aware = [facts for facts in mine if facts.policy.topology_aware]
    if aware and spec.platform.target.kueue.release < versions.KUEUE_TOPOLOGY_GATE:
        yield note(
            TOPOLOGY_GATE_NEEDED,
            f"Kueue {spec.platform.target.kueue} heeds Topology only with the feature gate "
            "TopologyAwareScheduling",
        )
    for facts in aware:
        if not facts.pool.topology_levels:
            yield note(
                TOPOLOGY_BY_NODE,
                f'pool "{facts.name}" is topologyAware without levels, so a node is its only '
                "level; write topology.levels, widest first",
                (facts.pool.at / "spec" / "schedulingPolicy").on_key(),
            )


def _of_waiting(spec: Spec, mine: Sequence[PoolFacts]) -> Iterator[Hit]:
    """Pools that want no gangs, where Kueue waits for whole ones by default."""
    if spec.platform.target.kueue.release < versions.KUEUE_WAITS:
        return
    for facts in mine:
        if not facts.policy.gang_scheduling:
            yield note(
                WAITS_FOR_PODS_ANYWAY,
                f'pool "{facts.name}" has gangScheduling: false, and Kueue '
                f"{spec.platform.target.kueue} takes back what is not wholly ready after 30 "
                "minutes all the same; only its feature gate DisableWaitForPodsReady turns "
                "that off",
                (facts.pool.at / "spec" / "schedulingPolicy").on_key(),
            )


_SCHEDULER_OF: Mapping[str, Scheduler] = {KUEUE_CONFIG: "kueue", VOLCANO_CONFIG: "volcano"}


def unused_extras(pools: Sequence[PoolFacts], extras: frozenset[str]) -> Iterator[Hit]:
    """Configurations that were asked for and that no pool needs."""
    for extra, name in _SCHEDULER_OF.items():
        if extra in extras and not any(facts.scheduler == name for facts in pools):
            message = f"--with {extra} writes nothing: no pool is scheduled by {name}"
            yield Hit(INERT_OPTION, message, None)
    if SECOND_SCHEDULER in extras and not any(
        facts.policy.bin_pack or facts.policy.spread for facts in scheduler.placed(pools)
    ):
        message = (
            f"--with {SECOND_SCHEDULER} writes nothing: kube-scheduler packs or spreads no pool"
        )
        yield Hit(INERT_OPTION, message, None)


def of_volcano(pools: Sequence[PoolFacts], extras: frozenset[str]) -> Iterator[Hit]:
    """A scheduler configuration under which the queues count, and nodes of its own."""
    mine = [facts for facts in pools if facts.scheduler == "volcano"]
    if not mine:
        return
    if VOLCANO_CONFIG not in extras:
        yield note(
            VOLCANO_CONFIG_NEEDED,
            "Volcano's shipped configuration ignores deserved and parent and does not pack GPUs; "
            f"render --with {VOLCANO_CONFIG} writes one that does",
        )
    if len(mine) < len(pools):
        selectors = " or ".join(
            sorted({f"{key}:{value}" for facts in mine for key, value in facts.pool.node_selector})
        )
        yield note(
            VOLCANO_NODE_SELECTOR,
            "other schedulers place pods too: start Volcano's scheduler with "
            f"--node-selector={selectors}, or it books their nodes",
        )


def of_kube_scheduler(
    spec: Spec, pools: Sequence[PoolFacts], extras: frozenset[str]
) -> Iterator[Hit]:
    """Somebody who reads the profiles."""
    chosen = list(scheduler.profiles(spec.platform, pools))
    if chosen and SECOND_SCHEDULER not in extras:
        names = " and ".join(profile.scheduler_name for profile, _ in chosen)
        yield note(
            SCHEDULER_PROFILES_UNREAD,
            f"nothing reads the ConfigMap with the scheduler profiles ({names}) yet: render --with "
            f"{SECOND_SCHEDULER} to run them, or give the main kube-scheduler the file of "
            "--raw-scheduler-config",
        )
    for profile, margin in chosen:
        if profile.strategy == "MostAllocated":
            yield note(
                PACKING_MARGIN,
                f"{profile.scheduler_name} packs: one GPU more in use on a node is worth at "
                f"least {margin} points above all that opposes it",
            )
