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
    said = pool.scheduling_policy.over(platform.scheduling_policy)
    spread = bool(said.spread)
    return Policy(
        bin_pack=said.bin_pack is not False and not spread,
        spread=spread,
        overcommit_ratio=said.overcommit_ratio,
        topology_aware=bool(said.topology_aware),
        gang_scheduling=said.gang_scheduling is not False,
        preemption_enabled=said.preemption_enabled is not False,
    )
