"""Shares in fair sharing, in thousandths of what the cohort could lend."""

import math

from policygen.simulate.kueue.quota import settle
from policygen.simulate.kueue.shares import NONE, precise, share
from tests.simulate.kueue.trees import cohort, queue

GPU = ["gpu"]


def test_the_share_is_what_a_queue_borrows_of_what_can_be_lent():
    """4 of 10 borrowed: 400; with weight 2, 200."""
    a, b, heavy = queue("a", 0), queue("b", 10), queue("heavy", 0, weight=2.0)
    settle(cohort("root", a, b, heavy))
    a.add(0, 4)
    heavy.add(0, 4)
    b.add(0, 2)
    assert share(a, GPU).key == (False, 400.0)
    assert share(heavy, GPU).key == (False, 200.0)
    assert share(b, GPU).key == (False, 0.0)
    assert share(a, GPU).borrowed == {0}
    assert NONE.key < share(b, GPU).key < share(heavy, GPU).key < share(a, GPU).key


def test_a_root_and_a_queue_within_its_quota_have_none():
    a = queue("a", 3)
    root = cohort("root", a)
    settle(root)
    a.add(0, 3)
    assert share(root, GPU).ratio == share(a, GPU).ratio == 0


def test_weight_zero_comes_last_as_soon_as_it_borrows():
    a, b = queue("a", 0, weight=0.0), queue("b", 10)
    settle(cohort("root", a, b))
    assert precise(share(a, GPU)) == 0
    a.add(0, 1)
    assert share(a, GPU).infinite
    assert precise(share(a, GPU)) == math.inf
    assert share(a, GPU).key > (False, 1e9)


def test_resources_of_several_flavors_add_up():
    """Two flavors of one resource: 3 borrowed of 10, although each flavor has only 5."""
    a, b = queue("a", 0), queue("b", 0)
    root = cohort("root", a, b)
    for node, nominal in ((a, [0, 0]), (b, [5, 5]), (root, [0, 0])):
        node.nominal, node.pairs = nominal, frozenset([0, 1])
        node.borrowing_limit = node.lending_limit = [None, None]
        node.usage, node.subtree, node.local, node.potential = ([0, 0] for _ in range(4))
    settle(root)
    a.add(0, 1)
    a.add(1, 2)
    assert share(a, ["gpu", "gpu"]).ratio == 300.0
    assert share(a, ["gpu", "cpu"]).ratio == 400.0
