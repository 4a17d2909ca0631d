"""Decides kube-scheduler's profiles: packing that is proven to dominate, and spreading."""

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.finding import Hit
from policygen.plan.amounts import HOST
from policygen.plan.kind import Kind, Meta, Release
from policygen.plan.pool import PoolFacts
from policygen.plan.rules import PROFILE_PACKS_WEAKLY
from policygen.spec import derived_names
from policygen.spec.types import Platform

MAX_WEIGHT = 100
"""Bound of `resources[].weight` (`pkg/scheduler/apis/config/validation`)."""

FIT_WEIGHT = 10
"""Weight of NodeResourcesFit among score plugins."""

SILENCED = ("NodeResourcesBalancedAllocation", "ImageLocality")
"""Score plugins that apply to every pod and work against a profile, so all profiles disable them.

The third one, PodTopologySpread, stays in a packing profile for explicit constraints. It has no
default constraints there, so it gives every node the same score. The other plugins score by the
pod's own preferences, or by PreferNoSchedule taints, which are equal on the nodes of a pool
(`pkg/scheduler/apis/config/v1/default_plugins.go`).
"""


class Weighted(Struct, frozen=True):
    """A resource and its weight inside NodeResourcesFit."""

    name: str
    weight: int


class Dominance(Struct, frozen=True):
    """Whether one more GPU in use on a node always outweighs everything else in its score.

    See docs/semantics.md, "Packing, and why it works". A node with one more unit in use gains
    at least ⌊100/N⌋ points of the GPU's term (N units a node, the term is floored); cpu and
    memory can differ by 100 points each; the mean is floored once more. So packing dominates
    inside NodeResourcesFit iff g·⌊100/N⌋ - 100·c ≥ g + c, and then among all score plugins,
    because the profile disables the plugins that work against it.
    Source: `pkg/scheduler/framework/plugins/noderesources/most_allocated.go`; swept on a real
    kube-scheduler for nodes of 4, 8 and 16 units, where no smaller g packs.
    """

    units_per_node: int
    gpu_weight: int
    other_weight: int
    fit_weight: int

    @property
    def gain(self) -> int:
        """The least points by which a node with one more unit in use wins inside the plugin."""
        step = 100 // self.units_per_node
        weight = self.gpu_weight + self.other_weight
        return (self.gpu_weight * step - 100 * self.other_weight) // weight

    @property
    def least_weight(self) -> int | None:
        """The smallest weight of the GPU with a gain; None: no allowed weight has one.

        The least g with g·(⌊100/N⌋ - 1) ≥ 101·c.
        """
        step = 100 // self.units_per_node
        least = -(-101 * self.other_weight // (step - 1)) if step > 1 else MAX_WEIGHT + 1
        return least if least <= MAX_WEIGHT else None

    @property
    def margin(self) -> int:
        """The same in the total score of a node; above 0 the profile packs."""
        return self.fit_weight * self.gain


class SchedulerProfile(Struct, frozen=True):
    """One profile of a KubeSchedulerConfiguration."""

    scheduler_name: str
    strategy: str
    resources: tuple[Weighted, ...]
    fit_weight: int
    disabled: tuple[str, ...]
    quiet_spreading: bool
    """Whether PodTopologySpread has no default constraints and uses explicit ones only."""


class SchedulerConfiguration(Struct, frozen=True):
    """A KubeSchedulerConfiguration."""

    meta: Meta
    profiles: tuple[SchedulerProfile, ...]
    lease: str | None
    """Name of the lease of a second scheduler; None for the main one."""
    lease_namespace: str
    default_profile: bool
    """Whether it includes the unchanged `default-scheduler`."""


CONFIGURATION = Kind(
    "KubeSchedulerConfiguration",
    "kubernetes",
    (
        Release(
            (1, 33), "kubescheduler.config.k8s.io/v1", "scheduler/scheduler_configuration.yaml.j2"
        ),
    ),
)
CONFIG_KEY = "config.yaml"


def placed(pools: Sequence[PoolFacts]) -> list[PoolFacts]:
    """Pools whose pods kube-scheduler places: its own, and Kueue's."""
    return [facts for facts in pools if facts.scheduler != "volcano"]


def scheduler_name(platform: Platform, facts: PoolFacts) -> str | None:
    """The schedulerName of pods of a pool; None if they use the default scheduler."""
    if facts.scheduler == "volcano":
        return "volcano"
    if facts.policy.bin_pack:
        return derived_names.profile(platform, "binpack")
    return derived_names.profile(platform, "spread") if facts.policy.spread else None


def profiles(
    platform: Platform, pools: Sequence[PoolFacts]
) -> Iterator[tuple[SchedulerProfile, int]]:
    """The profiles of the platform, each with its packing margin (0 if it does not pack)."""
    packing = [facts for facts in placed(pools) if facts.policy.bin_pack]
    if packing:
        dominance = choose(max(facts.units_per_node for facts in packing))
        yield (
            SchedulerProfile(
                scheduler_name=derived_names.profile(platform, "binpack"),
                strategy="MostAllocated",
                resources=_weighted(packing, dominance.gpu_weight, dominance.other_weight > 0),
                fit_weight=dominance.fit_weight,
                disabled=SILENCED,
                quiet_spreading=True,
            ),
            dominance.margin,
        )
    spreading = [facts for facts in placed(pools) if facts.policy.spread]
    if spreading:
        yield (
            SchedulerProfile(
                scheduler_name=derived_names.profile(platform, "spread"),
                strategy="LeastAllocated",
                resources=_weighted(spreading, MAX_WEIGHT, hosts=True),
                fit_weight=FIT_WEIGHT,
                disabled=SILENCED,
                quiet_spreading=False,
            ),
            0,
        )


def choose(units_per_node: int) -> Dominance:
    """The weights for nodes with `units_per_node`. cpu and memory break ties if the weights allow it.

    If no allowed weight of the GPU outweighs them, only the GPU counts.
    """
    beside_host = Dominance(units_per_node, 1, len(HOST), FIT_WEIGHT)
    weight = beside_host.least_weight
    if weight is None:
        return replace(beside_host, other_weight=0)
    return replace(beside_host, gpu_weight=weight)


def _weighted(
    pools: Sequence[PoolFacts],
    gpu_weight: int,
    hosts: bool,
) -> tuple[Weighted, ...]:
    names = sorted({resource for facts in pools for resource in facts.resources})
    gpus = tuple(Weighted(name, gpu_weight) for name in names)
    return gpus + (tuple(Weighted(name, 1) for name in HOST) if hosts else ())


def weak_packing(pools: Sequence[PoolFacts]) -> Iterator[Hit]:
    """Warnings for pools whose nodes have too many units to rank them by a score of 0 to 100."""
    for facts in placed(pools):
        if facts.policy.bin_pack and choose(facts.units_per_node).margin <= 0:
            yield Hit(
                PROFILE_PACKS_WEAKLY,
                f'pool "{facts.name}" packs only approximately: a score from 0 to 100 is too '
                f"coarse for nodes with {facts.units_per_node} GPUs or parts of GPUs; lower "
                "gpu.replicas, or use larger MIG instances",
                (facts.pool.at / "spec" / "gpu").on_key(),
            )


def configuration(
    platform: Platform, pools: Sequence[PoolFacts], *, raw: bool
) -> SchedulerConfiguration | None:
    """The KubeSchedulerConfiguration of the platform; None if no pool packs or spreads.

    `raw` returns the file that replaces the main scheduler's, with `default-scheduler` unchanged.
    """
    chosen = tuple(profile for profile, _ in profiles(platform, pools))
    if not chosen:
        return None
    name = derived_names.second_scheduler(platform)
    return SchedulerConfiguration(
        meta=Meta(name, platform.name, platform.kube_scheduler.namespace),
        profiles=chosen,
        lease=None if raw else name,
        lease_namespace=platform.kube_scheduler.namespace,
        default_profile=raw,
    )
