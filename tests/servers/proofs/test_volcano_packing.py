"""Scores of Volcano that do not pack: with each example, a pod chooses between two nodes."""

import pytest

from tests.servers import pairs
from tests.servers.pages import bad, good
from tests.servers.pairs import MORE_GPUS, SERVED, Load, Pair
from tests.servers.workloads import Ask

NODES = 0
"""Only the pairs'."""
PAIRS = {
    "gpus": MORE_GPUS,
    "served": SERVED,
    # binpack gives the first 62 points more, times its weight; the wish is worth 200.
    "wish": Pair(Load(6), Load(1), ask=Ask(gpus=1), prefers_second=100),
    # The first is in balance and fuller: 50 + 100 points, where the second has 84 + 84.
    "balance": Pair(
        Load(0, cpu="64", memory="512Gi"),
        Load(0, cpu="40", memory="1Gi"),
        ask=Ask(gpus=0, cpu="1", memory="1Gi"),
    ),
}


@pytest.fixture(scope="module")
def loaded(volcano):
    """The nodes of all pairs."""
    pairs.create(volcano, PAIRS)
    return volcano


def packs(volcano, rule, name):
    """By the good example the pod goes to the first node, by the bad one to the second."""
    for example, want in ((bad(rule), "second"), (good(rule), "first")):
        volcano.show(example)
        made = pairs.chooser(name, PAIRS[name], "volcano")
        assert pairs.choices(volcano, {name: made}) == {name: want}


def test_binpack_without_gpu(loaded):
    packs(loaded, "binpack-without-gpu", "gpus")


def test_binpack_weight_not_listed(loaded):
    packs(loaded, "binpack-weight-not-listed", "gpus")


def test_packing_counts_another_resource(loaded):
    packs(loaded, "packing-counts-another-resource", "gpus")


def test_binpack_outweighed(loaded):
    packs(loaded, "binpack-outweighed", "served")


def test_volcano_argument_mistyped(loaded):
    packs(loaded, "volcano-argument-mistyped", "wish")


def test_volcano_key_ignored(loaded):
    packs(loaded, "volcano-key-ignored", "balance")
