"""Values of annotations, parsed as Go parses them."""

import pytest

from policygen.core.go_values import boolean, integer, percentage


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7", 7),
        ("+7", 7),
        ("-07", -7),
        (str(2**63 - 1), 2**63 - 1),
        (str(2**63), None),
        ("-" + "0" * 5000 + "7", -7),
        ("7" * 5000, None),
        ("", None),
        ("1.0", None),
        (" 7", None),
        ("1_000", None),
        ("٣", None),
    ],
)
def test_integers(text, number):
    assert integer(text) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("50%", 50),
        ("007%", 7),
        ("9" * 5000 + "%", 2**63 - 1),
        ("50", None),
        ("%", None),
        ("-5%", None),
        ("5.5%", None),
    ],
)
def test_percentages(text, number):
    assert percentage(text) == number


@pytest.mark.parametrize(
    ("text", "value"),
    [("T", True), ("true", True), ("0", False), ("FALSE", False), ("yes", None), ("tRue", None)],
)
def test_booleans(text, value):
    assert boolean(text) is value
