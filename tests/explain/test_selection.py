"""Paths of fields: complete, with names, and with elisions."""

import pytest

from policygen.core.errors import UsageError
from policygen.explain.selection import select

SPELT = {
    ("spec", "a", 0, "quota"): ("spec.a[0].quota", "spec.a.cpu.quota"),
    ("spec", "a", 1, "quota"): ("spec.a[1].quota", 'spec.a["nvidia.com/gpu"].quota'),
    ("spec", "other"): ("spec.other",),
    ("spec", "quotas"): ("spec.quotas",),
}


@pytest.mark.parametrize(
    "query, found",
    [
        ("spec.a[0].quota", [0]),
        ("spec.a.cpu.quota", [0]),
        ('spec.a["nvidia.com/gpu"].quota', [1]),
        ("spec.a[nvidia.com/gpu]", [1]),
        ("spec…quota", [0, 1]),
        ("..quotas", [3]),
        ("spec..[1]..quota", [1]),
        ("spec", [0, 1, 2, 3]),
        ("spec..other", [2]),
        ("spec..", [0, 1, 2, 3]),
    ],
)
def test_queries(query, found):
    assert select(query, SPELT, "Kind name") == [list(SPELT)[i] for i in found]


@pytest.mark.parametrize(
    "query, advice",
    [
        ("spec.othr", 'did you mean "spec.other"?'),
        ("..qouta", 'did you mean "quota"?'),
        ("quota", 'did you mean "..quota"?'),
        ("sepc.other", 'did you mean "spec.other"?'),
        (
            "spec.foo",
            'known: a.cpu.quota, a["nvidia.com/gpu"].quota, a[0].quota, a[1].quota, other, quotas',
        ),
    ],
)
def test_the_nearest_is_proposed(query, advice):
    with pytest.raises(UsageError) as error:
        select(query, SPELT, "Kind name")
    assert str(error.value) == f"Kind name has no field {query}; {advice}"
