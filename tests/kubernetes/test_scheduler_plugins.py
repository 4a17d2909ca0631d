"""The plugins of a profile. tests/servers/test_placement.py compares their weights and order with kube-scheduler."""

import pytest

from policygen.kubernetes.configurations import PluginRef, PluginSet, SchedulerProfileView
from policygen.kubernetes.scheduler_plugins import enabled_plugins

DEFAULTS = {"A": 1, "B": 2, "C": 3}


def plugins(enabled="", disabled=""):
    found = (it.partition("=") for it in enabled.split())
    return PluginSet(
        tuple(PluginRef(name, int(weight) if weight else None) for name, _, weight in found),
        tuple(PluginRef(it) for it in disabled.split()),
    )


@pytest.mark.parametrize(
    ("multi_point", "own", "found"),
    [
        (plugins(), plugins(), [("A", 1), ("B", 2), ("C", 3)]),
        (plugins("B=7"), plugins(), [("A", 1), ("B", 7), ("C", 3)]),
        (plugins("A"), plugins(), [("A", 1), ("B", 2), ("C", 3)]),
        (plugins("A=7", "A"), plugins(), [("B", 2), ("C", 3), ("A", 7)]),
        (plugins("", "*"), plugins(), []),
        (plugins("", "*"), plugins("X=4"), [("X", 4)]),
        (plugins("X=4"), plugins(), [("A", 1), ("B", 2), ("C", 3)]),  # runs at other points
        (plugins(), plugins("C=9"), [("C", 9), ("A", 1), ("B", 2)]),
        (plugins(), plugins("C=9", "C"), [("A", 1), ("B", 2), ("C", 9)]),
        (plugins("B=7"), plugins("X B=8"), [("B", 8), ("A", 1), ("C", 3), ("X", 1)]),
        (plugins("B=7"), plugins("", "B"), [("A", 1), ("C", 3)]),
        (plugins("B=7"), plugins("C", "*"), [("C", 1)]),
    ],
)
def test_order_and_weights(multi_point, own, found):
    view = SchedulerProfileView(plugins={"multiPoint": multi_point, "score": own})
    assert list(enabled_plugins(view, "score", DEFAULTS).items()) == found
