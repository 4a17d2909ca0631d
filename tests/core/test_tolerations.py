"""Which toleration matches which taint."""

from types import SimpleNamespace

import pytest

from policygen.core.tolerations import tolerates


def toleration(key=None, operator=None, value=None, effect=None):
    return SimpleNamespace(key=key, operator=operator, value=value, effect=effect)


TAINT = SimpleNamespace(key="gpu", value="yes", effect="NoSchedule")
BARE = SimpleNamespace(key="gpu", value=None, effect="NoExecute")


@pytest.mark.parametrize(
    ("it", "taint", "matches"),
    [
        (toleration("gpu", value="yes"), TAINT, True),
        (toleration("gpu", "Equal", "yes", "NoSchedule"), TAINT, True),
        (toleration("gpu", "Equal", "no"), TAINT, False),
        (toleration("gpu", "Exists"), TAINT, True),
        (toleration("gpu", "Exists", effect="NoExecute"), TAINT, False),
        (toleration("cpu", "Exists"), TAINT, False),
        (toleration(operator="Exists"), TAINT, True),
        (toleration(), BARE, False),
        (toleration("gpu"), BARE, True),
        (toleration("gpu", value=""), BARE, True),
        (toleration("gpu", "Lt", "yes"), TAINT, False),
    ],
)
def test_a_toleration_matches_a_taint(it, taint, matches):
    assert tolerates(it, taint) is matches
