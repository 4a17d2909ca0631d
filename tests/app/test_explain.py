"""Every name that a run can show is explained."""

import pytest

from policygen.app import explain
from policygen.core.errors import UsageError
from policygen.core.rule import Family
from policygen.lint.page import has_page
from policygen.lint.registry import REGISTRY

RULE = "local-queue-without-cluster-queue"


@pytest.mark.parametrize("name", explain.names())
def test_every_name_is_explained(name):
    text = explain.explain(name)
    assert text.startswith(f"# {name}\n\n")
    assert text.endswith("\n")


@pytest.mark.parametrize("rule", [each for each in REGISTRY if each.remedy], ids=str)
def test_what_to_do_is_explained(rule):
    """On its page, if it has one: tests/lint/test_finding_pages.py."""
    assert rule.remedy in " ".join(explain.explain(rule.name).split()) or has_page(rule.name)


def test_of_every_name_of_a_run_it_is_said_what_to_do():
    of_runs = {each.name for each in REGISTRY if each.family is Family.RUN and not each.remedy}
    assert of_runs == set()


def test_an_unknown_name_is_told_with_the_nearest():
    with pytest.raises(
        UsageError, match=f'rule "{RULE[:-1]}" does not exist; did you mean "{RULE}"'
    ):
        explain.explain(RULE[:-1])
    with pytest.raises(UsageError, match='did you mean "limit-above-parent"'):
        explain.explain("limit-above-parents")
