"""Durations are parsed as Go parses them."""

from fractions import Fraction

import pytest

from policygen.core.durations import duration, seconds, written


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5m", 300),
        ("1h30m", 5400),
        ("1.5h", 5400),
        (".5s", Fraction(1, 2)),
        ("-10s", -10),
        ("+10s", 10),
        ("0", 0),
        ("-0", 0),
        ("2us1ns", Fraction(2001, 10**9)),
        ("3µs", Fraction(3, 10**6)),
    ],
)
def test_a_duration_in_seconds(text, expected):
    assert seconds(text) == expected


@pytest.mark.parametrize(
    "text", ["", "5", "m", "5d", "9223372037s", "5 m", "1h 30m", "--5s", "5m,", ".s", 300, None]
)
def test_what_go_refuses(text):
    assert seconds(text) is None


@pytest.mark.parametrize(
    ("length_s", "text"),
    [
        (0, "0s"), (0.4, "0s"), (59, "59s"), (60, "1m"), (1201, "20m 1s"), (3599.6, "1h"),
        (3661, "1h 1m"), (3601, "1h"), (90061, "1d 1h 1m"), (86460, "1d 1m"), (-30, "-30s"),
        (-0.2, "0s"),
    ],
)  # fmt: skip
def test_a_duration_for_people(length_s, text):
    assert duration(length_s) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90", 90),
        ("1.5", Fraction(3, 2)),
        ("1e3", 1000),
        ("-5", -5),
        ("0", 0),
        ("2h30m", 9000),
        ("7d", 604800),
        ("1d12h", 129600),
        ("1d 12h 5m", 129900),
        ("-1d1s", -86401),
    ],
)
def test_what_a_user_writes(text, expected):
    assert written(text) == expected


@pytest.mark.parametrize(
    "text", ["", "d", "1d-2h", "1.5d", "1_0", "inf", "nan", "soon", "5 m", "1e999", 300, None]
)
def test_what_is_no_duration(text):
    assert written(text) is None


@pytest.mark.parametrize("unit", ["", "d", "s", "d1h", "e1"])
@pytest.mark.parametrize("digits", [20, 400, 5000])
def test_numbers_that_are_too_long(digits, unit):
    """Neither a float nor an integer of Python is made of them."""
    assert written("9" * digits + unit) is None
    assert seconds("9" * digits + unit) is None


def test_the_longest_duration():
    assert written(str(1 << 53)) == 1 << 53
    assert written(str((1 << 53) + 1)) is written(f"-{(1 << 53) + 1}") is None
