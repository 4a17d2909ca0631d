"""What other rules report."""

from msgspec.structs import replace

from policygen.lint.kueue.rules import own_quota_not_reclaimed, workload_exceeds_quota
from policygen.lint.other_rules import places
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
