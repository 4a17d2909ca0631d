"""Clusters of one run with different releases."""

from policygen.core.versions import Version
from policygen.lint.skew import skew


def test_the_fewer_differ_from_the_more():
    found = list(skew({
        "a": {"kueue": Version(0, 19, 1), "kubernetes": Version(1, 36)},
        "b": {"kueue": Version(0, 19, 2)},
        "c": {"kueue": Version(0, 18), "kubernetes": Version(1, 36)},
    }))  # fmt: skip
    assert [(it.cluster, it.message.partition(";")[0]) for it in found] == [
        ("c", "kueue is 0.18 on c, but 0.19 on a, b")
    ]


def test_equal_releases_have_no_skew():
    assert list(skew({"a": {"kueue": Version(0, 19, 1)}, "b": {"kueue": Version(0, 19, 2)}})) == []
    assert list(skew({"a": {}})) == []
