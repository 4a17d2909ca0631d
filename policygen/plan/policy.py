"""A pool's scheduling policy with every default applied."""

from fractions import Fraction

from msgspec import Struct

from policygen.spec.types import Platform, Pool


class Policy(Struct, frozen=True):
    """How a pool places pods and shares GPUs. Every field is set."""

    bin_pack: bool
    spread: bool
    overcommit_ratio: Fraction | None
    topology_aware: bool
    gang_scheduling: bool
    preemption_enabled: bool


def policy(pool: Pool, platform: Platform) -> Policy:
    """The policy of a pool. Its own fields override the Platform's, and those override the defaults."""
    merged = pool.scheduling_policy.over(platform.scheduling_policy)
    spread = bool(merged.spread)
    return Policy(
        bin_pack=merged.bin_pack is not False and not spread,
        spread=spread,
        overcommit_ratio=merged.overcommit_ratio,
        topology_aware=bool(merged.topology_aware),
        gang_scheduling=merged.gang_scheduling is not False,
        preemption_enabled=merged.preemption_enabled is not False,
    )
