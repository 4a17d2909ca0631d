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


def test_every_rule_has_a_remedy():
    assert [rule.name for rule in REGISTRY if not rule.remedy] == []


def test_an_unknown_name_is_reported_with_the_nearest():
    with pytest.raises(
        UsageError, match=f'rule "{RULE[:-1]}" does not exist; did you mean "{RULE}"'
    ):
        explain.explain(RULE[:-1])
    with pytest.raises(UsageError, match='did you mean "limit-above-parent"'):
        explain.explain("limit-above-parents")
