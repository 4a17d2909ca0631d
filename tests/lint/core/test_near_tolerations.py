"""The toleration that was meant for taints; `tests/lint/test_seen_rules.py` shows that the remedies work."""

import pytest

from policygen.kubernetes.core import TaintView, TolerationView
from policygen.lint.core.near_tolerations import near_toleration

TAINT = TaintView("gpu", "NoSchedule", "a")
SOFT = TaintView("other", "PreferNoSchedule")


@pytest.mark.parametrize(
    ("toleration", "path", "advice"),
    [
        (TolerationView("gpu", value="b"), (0, "value"), "write value: a"),
        (TolerationView("gpu"), (0,), "write value: a"),
        (
            TolerationView("gpu", "Exists", "", "NoExecute"),
            (0, "effect"),
            "write effect: NoSchedule",
        ),
        (TolerationView("gpus", "Exists"), (0, "key"), "write key: gpu"),
        (TolerationView("gpus", value="b"), None, ""),
        (TolerationView("gpu", "Equal", "b", "NoExecute"), None, ""),
        (TolerationView("other", "Exists"), None, ""),
    ],
)
def test_one_change_of_a_toleration(toleration, path, advice):
    near = near_toleration([toleration], [TAINT], [TAINT, SOFT])
    assert (near and near.path) == (path and ("tolerations", *path))
    assert near is None or near.advice == advice


def test_a_value_that_is_no_string_without_quotes():
    near = near_toleration([TolerationView("gpu")], [TaintView("gpu", "NoSchedule", "true")], [])
    assert near
    assert near.advice == 'write value: "true"'


def test_a_toleration_for_another_taint_is_no_typo():
    other = TaintView("gpus", "NoSchedule")
    toleration = TolerationView("gpus", "Exists")
    assert near_toleration([toleration], [TAINT], [TAINT, other]) is None
