"""Decides the configuration of Volcano's scheduler."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field

from policygen.core import versions
from policygen.plan.amounts import HOST
from policygen.plan.kind import Kind, Meta, Release
from policygen.plan.pool import PoolFacts
from policygen.spec.types import Platform

SCORE_WEIGHT = 10
"""Weight of binpack or resource-strategy-fit relative to the preferences of pods."""


class Plugin(Struct, frozen=True):
    """One plugin of a tier."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    hierarchy: bool = False
    """`enableHierarchy: true`."""
    yields: bool = False
    """True if the other plugins of its tier select victims and claimants.

    `enablePreemptable`, `enableReclaimable` and `enableJobStarving` are false.
    """


class VolcanoConfiguration(Struct, frozen=True):
    """`volcano-scheduler.conf`."""

    meta: Meta
    actions: str
    tiers: tuple[tuple[Plugin, ...], ...]


CONFIGURATION = Kind(
    "volcano-scheduler.conf",
    "volcano",
    (Release((1, 12), "", "volcano/scheduler_configuration.yaml.j2"),),
)
CONFIG_KEY = "volcano-scheduler.conf"


def decide(platform: Platform, pools: Sequence[PoolFacts]) -> VolcanoConfiguration | None:
    """The configuration that makes queues take effect, and pools pack or spread.

    None without Volcano pools. `capacity` with `enableHierarchy` uses deserved and parent, which
    `proportion` ignores. Without `reclaim`, lent GPUs are never reclaimed. `enqueue` with both
    starves the claimant (volcano-sh/volcano#4756).

    The first tier that names victims decides, so `capacity` is in the first one, with
    `conformance`. In a lower tier it could not check whether a victim's queue exceeds its deserved
    share. `gang` does not select victims there: it would protect a borrower's gangs, and end a
    claim at minMember. tests/servers/test_volcano_behaviour.py shows each on 1.14.1.
    """
    mine = [facts for facts in pools if facts.scheduler == "volcano"]
    if not mine:
        return None
    preempts = any(facts.policy.preemption_enabled for facts in mine)
    return VolcanoConfiguration(
        meta=Meta(platform.volcano.config_map, platform.name, platform.volcano.namespace),
        actions="allocate, preempt, reclaim, backfill" if preempts else "allocate, backfill",
        tiers=(
            (
                Plugin("priority"),
                Plugin("gang", yields=preempts),
                Plugin("conformance"),
                Plugin("capacity", hierarchy=True),
            ),
            (Plugin("predicates"), *_node_groups(platform, mine), *_scoring(platform, mine)),
        ),
    )


def _node_groups(platform: Platform, mine: Sequence[PoolFacts]) -> tuple[Plugin, ...]:
    """The plugin that keeps queues on the nodes of their group, if it harms no pool.

    With `strict`, a queue without an affinity fits no node. Before 1.13, all are strict.
    """
    if platform.target.volcano.release >= versions.VOLCANO_LENIENT_NODE_GROUPS:
        needed = any(facts.node_group for facts in mine)
        return (Plugin("nodegroup", {"strict": False}),) if needed else ()
    return (Plugin("nodegroup"),) if all(facts.node_group for facts in mine) else ()


def _scoring(platform: Platform, mine: Sequence[PoolFacts]) -> tuple[Plugin, ...]:
    """The plugins that choose among nodes.

    nodeorder scores cpu and memory and works against binpack, which counts only listed GPUs
    (volcano-sh/volcano#1844). A node with one more of N units in use gains g/N, and can lose less
    than 1 each by cpu and memory, unrounded. So g = 2N + 1 always decides, and cpu and memory only
    break ties.
    """
    resources = sorted({resource for facts in mine for resource in facts.resources})
    weight = len(HOST) * max(facts.units_per_node for facts in mine) + 1
    if mine[0].policy.bin_pack:
        return (
            _quiet("leastrequested", "balancedresource", "podtopologyspread", "imagelocality"),
            Plugin(
                "binpack",
                {
                    "binpack.weight": SCORE_WEIGHT,
                    **{f"binpack.{resource}": 1 for resource in HOST},
                    "binpack.resources": ",".join(resources),
                    **{f"binpack.resources.{resource}": weight for resource in resources},
                },
            ),
        )
    if not mine[0].policy.spread:
        return (Plugin("nodeorder"),)
    if platform.target.volcano.release < versions.VOLCANO_STRATEGY_FIT:
        weights = {"leastrequested.weight": SCORE_WEIGHT, "imagelocality.weight": 0}
        return (Plugin("nodeorder", weights),)
    weights = {**dict.fromkeys(resources, weight), **dict.fromkeys(HOST, 1)}
    least = {name: {"type": "LeastAllocated", "weight": each} for name, each in weights.items()}
    return (
        _quiet("leastrequested", "balancedresource", "imagelocality"),
        Plugin(
            "resource-strategy-fit",
            {"resourceStrategyFitWeight": SCORE_WEIGHT, "resources": least},
        ),
    )


def _quiet(*scores: str) -> Plugin:
    """The plugin nodeorder, without these scores."""
    return Plugin("nodeorder", {f"{name}.weight": 0 for name in scores})
