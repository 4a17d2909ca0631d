"""The quota tree: what is used, lent, borrowed and available."""

import pytest

from policygen.simulate.kueue.quota import borrowing_height, settle
from tests.simulate.kueue.trees import cohort, queue


def tree(**limits):
    """A cohort of a (4), b (6) and one more cohort of c (2) and d (0); `limits` are those of b."""
    a, b, c, d = queue("a", 4), queue("b", 6, **limits), queue("c", 2), queue("d", 0)
    inner = cohort("inner", c, d)
    root = cohort("root", a, b, inner)
    settle(root)
    return {it.name: it for it in (root, inner, a, b, c, d)}


def test_the_quota_of_a_subtree_is_lent_upwards():
    nodes = tree()
    assert {name: it.subtree[0] for name, it in nodes.items()} == {
        "root": 12, "inner": 2, "a": 4, "b": 6, "c": 2, "d": 0,
    }  # fmt: skip
    assert {name: it.height for name, it in nodes.items()} == {
        "root": 2, "inner": 1, "a": 0, "b": 0, "c": 0, "d": 0,
    }  # fmt: skip
    assert all(it.available(0) == 12 for it in nodes.values())
    assert all(it.potential[0] == 12 for it in nodes.values())


def test_what_is_used_is_missing_everywhere():
    nodes = tree()
    nodes["d"].add(0, 3)
    assert [nodes[it].usage[0] for it in ("d", "inner", "root")] == [3, 3, 3]
    assert nodes["a"].available(0) == nodes["d"].available(0) == 9
    assert nodes["d"].borrows_with(0)
    assert not nodes["inner"].within_nominal([0])
    nodes["d"].remove(0, 3)
    assert [nodes[it].usage[0] for it in ("d", "inner", "root")] == [0, 0, 0]


def test_a_lending_limit_keeps_a_part_for_the_queue():
    """b lends 2 of its 6, so that 4 are its own."""
    nodes = tree(lending=2)
    assert (nodes["b"].local[0], nodes["root"].subtree[0]) == (4, 8)
    assert [nodes[it].available(0) for it in "ab"] == [8, 12]
    nodes["b"].add(0, 5)
    assert nodes["root"].usage[0] == 1
    assert [nodes[it].available(0) for it in "ab"] == [7, 7]
    nodes["b"].remove(0, 3)
    assert (nodes["b"].usage[0], nodes["root"].usage[0]) == (2, 0)


def test_a_borrowing_limit():
    nodes = tree(borrowing=1)
    assert nodes["b"].available(0) == nodes["b"].potential[0] == 7
    nodes["a"].add(0, 12)
    assert nodes["b"].available(0) == 0


def test_what_is_available_can_be_negative():
    nodes = tree()
    nodes["a"].add(0, 14)
    assert nodes["b"].available(0) == -2


@pytest.mark.parametrize(
    ("name", "amount", "height"),
    [("a", 4, (0, True)), ("a", 5, (2, False)), ("d", 1, (1, True)), ("d", 2, (1, True)), ("d", 3, (2, False)), ("a", 13, (2, False))],
)  # fmt: skip
def test_how_far_a_request_borrows(name, amount, height):
    assert borrowing_height(tree()[name], 0, amount) == height


def test_a_queue_without_a_cohort_does_not_borrow():
    alone = queue("alone", 4)
    settle(alone)
    assert (alone.available(0), alone.height) == (4, 0)
    assert borrowing_height(alone, 0, 5) == (0, False)
