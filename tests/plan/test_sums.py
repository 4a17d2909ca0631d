"""Sums of guarantees and limits: each excess is reported once, at the amount that is too large."""

import pytest


def place(found, rule):
    (it,) = [it for it in found.findings if it.rule.name == rule]
    return it.path


@pytest.mark.parametrize(
    ("a", "b", "rules"),
    [
        ("guarantee: 32", "guarantee: 32", []),
        ("guarantee: 32", "guarantee: 33", ["guarantees-above-available"]),
        ("guarantee: 4, limit: 3", "", ["limit-below-guarantee"]),
        ("limit: 65", "", ["limit-above-available"]),
        ("limit: 64", "limit: 64", []),
        ('guarantee: 1, cpu: {guarantee: "769"}', "", ["guarantees-above-available"]),
    ],
)
def test_root_teams_of_a_pool(planned, pool, team, a, b, rules):
    errors = [
        it.rule.name for it in planned(pool(), team("a", a), team("b", b)).findings
        if str(it.severity) == "error"
    ]  # fmt: skip
    assert errors == rules


def test_the_largest_guarantee_is_named(planned, pool, team):
    found = planned(pool(), team("a", "guarantee: 30"), team("b", "guarantee: 40"))
    (it,) = [it for it in found.findings if it.rule.name == "guarantees-above-available"]
    assert (it.object, it.path) == ("Team b", "spec.quotas[0].guarantee")
    assert '("a", "b") sum to 70 nvidia.com/gpu' in it.message


def test_children_share_what_their_parent_has(planned, pool, team):
    lab = team("lab", "guarantee: 8, limit: 16", namespaces=False)
    child = [team(name, "guarantee: 5", parent="lab") for name in "ab"]
    assert "guarantees-above-parent" in planned(pool(), lab, *child).rules
    assert planned(pool(), lab, child[0]).plan is not None
    above = team("a", "guarantee: 5, limit: 17", parent="lab")
    assert place(planned(pool(), lab, above), "limit-above-parent") == "spec.quotas[0].limit"
