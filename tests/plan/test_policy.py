"""A pool's policy: its own fields, then the Platform's, then the defaults."""

from fractions import Fraction

from policygen.core.finding import At
from policygen.plan.policy import policy
from policygen.spec.types import Capacity, Gpu, Platform, Pool, SchedulingPolicy


def of(own, platform=None):
    none = SchedulingPolicy()
    pool = Pool("p", At(0), (), "kueue", (), None, Gpu(), Capacity(), own or none)
    return policy(pool, Platform("set", None, scheduling_policy=platform or none))


def test_defaults():
    it = of(None)
    assert (it.bin_pack, it.spread, it.topology_aware) == (True, False, False)
    assert (it.gang_scheduling, it.preemption_enabled, it.overcommit_ratio) == (True, True, None)


def test_the_pool_wins_over_the_platform():
    platform = SchedulingPolicy(gang_scheduling=False, overcommit_ratio=Fraction(2))
    it = of(SchedulingPolicy(gang_scheduling=True), platform)
    assert (it.gang_scheduling, it.overcommit_ratio) == (True, 2)
    assert not of(None, platform).gang_scheduling


def test_who_spreads_does_not_pack():
    assert not of(SchedulingPolicy(spread=True)).bin_pack
    assert not of(SchedulingPolicy(bin_pack=False)).bin_pack
