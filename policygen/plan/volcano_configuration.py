"""Decides the configuration of Volcano's scheduler."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field

from policygen import versions
from policygen.plan.kind import Kind, Meta, Release
from policygen.plan.pool import PoolFacts
from policygen.spec.types import Platform

GPU_WEIGHT = 10
"""Of each GPU resource in binpack, against 1 for cpu and memory."""


class Plugin(Struct, frozen=True):
    """One plugin of a tier."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    hierarchy: bool = False
    """`enableHierarchy: true`."""
    shielded: bool = False
    """`enablePreemptable: false`."""


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
    """What makes the queues count and the pools pack or spread; None without Volcano pools.

    `capacity` with `enableHierarchy` reads deserved and parent, which `proportion` ignores;
    without `reclaim` nothing lent comes back; `enqueue` beside them starves the claimant
    (volcano-sh/volcano#4756). nodeorder looks at cpu and memory only and pulls against
    binpack, which counts no GPU unless it is listed (volcano-sh/volcano#1844).
    """
    mine = [facts for facts in pools if facts.scheduler == "volcano"]
    if not mine:
        return None
    preempts = any(facts.policy.preemption_enabled for facts in mine)
    last: list[Plugin] = [
        Plugin("predicates"),
        Plugin("capacity", hierarchy=True),
    ]
    if any(facts.node_group for facts in mine):
        # Not strict, so that queues without an affinity keep the unlabelled nodes.
        last.append(Plugin("nodegroup", {"strict": False}))
    resources = sorted({resource for facts in mine for resource in facts.resources})
    if mine[0].policy.bin_pack:
        silent = ("leastrequested", "balancedresource", "podtopologyspread", "imagelocality")
        weights = {"binpack.weight": 10, "binpack.cpu": 1, "binpack.memory": 1}
        listed = {"binpack.resources": ",".join(resources)}
        own = {f"binpack.resources.{resource}": GPU_WEIGHT for resource in resources}
        last += [
            Plugin("nodeorder", {f"{name}.weight": 0 for name in silent}),
            Plugin("binpack", {**weights, **listed, **own}),
        ]
    elif mine[0].policy.spread:
        last.append(Plugin("nodeorder", {"leastrequested.weight": 10, "imagelocality.weight": 0}))
        if platform.target.volcano.release >= versions.VOLCANO_STRATEGY_FIT:
            # nodeorder alone put 8 pods of one GPU 3, 1, 1, 3 on four nodes; with this 2 each.
            least = {"type": "LeastAllocated", "weight": GPU_WEIGHT}
            strategies = {"resources": dict.fromkeys(resources, least)}
            last.append(
                Plugin("resource-strategy-fit", {"resourceStrategyFitWeight": 10, **strategies})
            )
    else:
        last.append(Plugin("nodeorder"))
    return VolcanoConfiguration(
        meta=Meta(platform.volcano.config_map, platform.name, platform.volcano.namespace),
        actions="allocate, preempt, reclaim, backfill" if preempts else "allocate, backfill",
        tiers=(
            (
                Plugin("priority"),
                Plugin("gang", shielded=True),
                Plugin("conformance"),
            ),
            tuple(last),
        ),
    )
