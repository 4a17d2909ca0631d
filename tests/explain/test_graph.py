"""The graph of teams: how much each can borrow and take back."""

import pytest

from policygen.app import explain_name
from policygen.app.requests import RenderRequest
from policygen.explain.graph import graphs
from policygen.explain.overview import overview


def nodes(example):
    made = explain_name.compiled(RenderRequest((f"examples/{example}",), {}))
    return {it.name: it for graph in graphs(overview(made.decisions)) for it in graph}


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch, request):
    monkeypatch.chdir(request.config.rootpath)


def test_a_tree_of_kueue():
    found = nodes("kueue-team-tree")
    pool, language, own = found["a100 (kueue)"], found["language"], found["language.own"]
    assert (pool.parent, pool.amounts) == (None, "64 nvidia.com/gpu; not guaranteed: 12")
    assert (language.parent, language.borrows, language.reclaims) == (pool.id, "24", "32")
    assert (own.parent, own.borrows, own.reclaims, own.depth) == (language.id, "48", "8", 2)
    assert found["vision"].models == ("4 to 24 × segmenter",)


def test_a_tree_of_volcano():
    """The amounts are those above and below what a queue deserves."""
    found = nodes("volcano-training")
    assert (found["text"].borrows, found["text"].reclaims) == ("47", "73")


def test_other_schedulers_lend_nothing():
    found = nodes("three-schedulers")
    assert (found["product"].borrows, found["product"].reclaims) == ("", "")


def test_several_resources_are_named():
    found = nodes("serving-slices")
    assert found["slices (kueue)"].amounts.startswith("32 mig-1g.5gb + 16 mig-2g.10gb")
