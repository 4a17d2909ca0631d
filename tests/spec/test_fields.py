from fractions import Fraction

import pytest

from policygen.core.finding import At
from policygen.core.rule import Severity
from policygen.spec.fields import View


def view(**data):
    return View(data, At(0), [])


@pytest.mark.parametrize(
    "value, unit, expected",
    [
        ("500m", "cpu", 500),
        (2, "cpu", 2000),
        (1.5, "cpu", 1500),
        ("80Gi", "memory", 80 << 30),
        (1 << 30, "memory", 1 << 30),
        (None, "memory", None),
    ],
)
def test_measure(value, unit, expected):
    it = view(x=value)
    assert it.measure("x", unit) == expected
    assert it.hits == []


@pytest.mark.parametrize("value", ["80GB", "1 Gi", "", "-1Gi", -1, 0, "0", "9" * 5000, 10**30])
def test_bad_measure_is_a_hit_and_no_value(value):
    it = view(x=value)
    assert it.measure("x", "memory") is None
    [hit] = it.hits
    assert (hit.rule.name, hit.at.path, hit.rule.severity) == (
        "invalid-value",
        ("x",),
        Severity.ERROR,
    )
    assert hit.message.isprintable()
    assert len(hit.message) < 200


def test_zero_where_it_means_something():
    it = view(cpu=0, memory="0")
    assert (it.measure("cpu", "cpu", zero=True), it.measure("memory", "memory", zero=True)) == (
        0,
        0,
    )
    assert it.hits == []


@pytest.mark.parametrize("value", [16, "16", "100m", "1000k"])
def test_memory_without_a_unit_is_reported(value):
    it = view(x=value)
    assert it.measure("x", "memory") is not None
    [hit] = it.hits
    assert (hit.rule.name, hit.rule.severity) == ("memory-without-unit", Severity.WARNING)
    assert view(x=value).measure("x", "cpu") is not None


def test_absent_fields_are_nothing():
    it = view(none=None)
    for key in ("none", "absent"):
        assert not it.view(key)
        assert list(it.views(key)) == []
        assert it.texts(key) == it.pairs(key) == ()
        assert it.text(key) is it.number(key) is it.flag(key) is it.ratio(key) is None
        assert it.amounts(key) is it.resources(key) is None
        assert it.bounds(key) == it.bounds("other")


def test_places_go_along():
    it = View({"a": [{"b": {"c": "bad"}}]}, At(3, ("spec",)), [])
    [entry] = it.views("a")
    entry.view("b").measure("c", "cpu")
    assert it.hits[0].at == At(3, ("spec", "a", 0, "b", "c"))


def test_ratio_is_what_is_written():
    assert view(x=1.2).ratio("x") == Fraction(6, 5)
    assert view(x=1).ratio("x") == 1


def test_amounts():
    assert view(x=8).amounts("x") == (("", 8),)
    assert view(x=8.0).amounts("x") == (("", 8),)
    assert view(x={"3g.20gb": 1, "1g.5gb": 2}).amounts("x") == (("1g.5gb", 2), ("3g.20gb", 1))
