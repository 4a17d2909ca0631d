"""Every finding name that a run can show has an explanation."""

import pytest

from policygen.app import explain
from policygen.core.errors import UsageError
from policygen.lint.registry import REGISTRY

RULE = "local-queue-without-cluster-queue"


@pytest.mark.parametrize("name", explain.names())
def test_every_name_is_explained(name):
    text = explain.explain(name)
    assert text.startswith(f"# {name}\n\n")
    assert text.endswith("\n")


def test_the_complete_page_has_what_the_short_one_has():
    for rule in REGISTRY:
        text = " ".join(explain.explain(rule.name, full=True).split())
        head = (
            f"# {rule.name} {rule.severity}, {rule.family.word}: {rule.summary} Fix: {rule.remedy} "
        )
        assert text.startswith(head)
        assert text.endswith(" ".join(explain.page(rule.name).text.split()[2:]))


def test_every_rule_has_a_remedy():
    assert [rule.name for rule in REGISTRY if not rule.remedy] == []


def test_an_unknown_name_is_reported_with_the_nearest():
    with pytest.raises(
        UsageError, match=f'rule "{RULE[:-1]}" does not exist; did you mean "{RULE}"'
    ):
        explain.explain(RULE[:-1])
    with pytest.raises(UsageError, match='did you mean "limit-above-parent"'):
        explain.explain("limit-above-parents")
