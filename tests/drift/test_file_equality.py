"""Differences in files that do not change their meaning."""

import pytest

from policygen.drift.file_equality import are_same, is_unordered


def test_lists_that_programs_look_up_have_no_order():
    assert is_unordered(("profiles",))
    assert is_unordered(("profiles", 0, "pluginConfig"))
    assert not is_unordered(("profiles", 0))
    assert not is_unordered(("tiers",))
    assert not is_unordered(())


@pytest.mark.parametrize(
    ("path", "one", "other", "same"),
    [
        (("timeout",), "30m", "1800s", True),
        (("timeout",), "30m", "31m", False),
        (("name",), "a", "b", False),
        (("actions",), "enqueue, allocate", "enqueue,allocate", True),
        (("actions",), "allocate, enqueue", "enqueue, allocate", False),
        (("actions",), ["a"], ["a"], False),
    ],
)
def test_texts_with_one_meaning(path, one, other, same):
    assert are_same(path, one, other) is same
