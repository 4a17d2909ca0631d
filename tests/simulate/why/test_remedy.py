"""The order of remedies."""

from policygen.core.finding import At
from policygen.simulate.why.changes import (
    FieldChange,
    PodsChange,
    PriorityChange,
    SpecChange,
    SpecEdit,
)
from policygen.simulate.why.remedy import Cost, Remedy

QUOTA = FieldChange("ClusterQueue", "", "q", ("nominalQuota",), "8", "10")
EDIT = SpecEdit("Team", "t", "p", "guarantee", "", "4", "6", At(0))


def order(*found):
    return sorted(found, key=lambda it: it.rank)


def test_what_has_room_and_costs_nothing_comes_first():
    roomy = Remedy((QUOTA,), Cost(), placed=True)
    costly = Remedy((PriorityChange(0, 1, "high"),), Cost(preempted=("n/b",)), placed=True)
    cramped = Remedy((PodsChange("main", 4, 3),), Cost(), placed=False)
    assert order(cramped, costly, roomy) == [roomy, costly, cramped]


def test_own_changes_come_before_those_of_quotas_and_small_ones_before_large_ones():
    fewer, fewest = (Remedy((PodsChange("main", 4, it),), Cost()) for it in (3, 1))
    more, most = Remedy((QUOTA,), Cost()), Remedy((QUOTA, QUOTA), Cost())
    assert order(most, more, fewest, fewer) == [fewer, fewest, more, most]


def test_each_edit_of_a_spec_is_a_change():
    one, two = (Remedy((SpecChange((EDIT,) * it, ()),), Cost()) for it in (1, 2))
    assert order(two, one) == [one, two]
    assert [*two.parts.values()] == [2]
    assert [*Remedy((PodsChange("main", 4, 3),), Cost()).parts.values()] == [-1]


def test_a_moved_quota():
    less = FieldChange("ClusterQueue", "", "r", ("nominalQuota",), "8", "6")
    assert Remedy((less, QUOTA), Cost()).moves_quota
    assert not Remedy((QUOTA,), Cost()).moves_quota
