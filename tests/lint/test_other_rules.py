"""What other rules report."""

from msgspec.structs import replace

from policygen.core.finding import At
from policygen.lint.kueue.rules import own_quota_not_reclaimed, workload_exceeds_quota
from policygen.lint.other_rules import is_inside, places
from tests.examples_of_rules import examples
from tests.objects import facts

RULES = workload_exceeds_quota.RULE, own_quota_not_reclaimed.RULE
FACTS = facts(examples("workload-exceeds-quota", good=False)[0].text)


def test_only_rules_that_run_count():
    found = replace(FACTS, run=frozenset({"workload-exceeds-quota"}))
    assert [it.path[0] for it in places(found, RULES)] == ["spec"]
    assert list(places(FACTS, RULES)) == []


def test_rules_without_their_input_are_skipped():
    run = frozenset(it.name for it in RULES)
    assert list(places(replace(FACTS, run=run, given=frozenset()), RULES)) == []


def test_parts_of_a_place_are_inside():
    root = At(1, ("profiles", 0))
    assert is_inside(root, root)
    assert is_inside(root.to("plugins"), root)
    assert not is_inside(At(1, ("profiles",)), root)
    assert not is_inside(At(2, ("profiles", 0)), root)
