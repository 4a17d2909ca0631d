import ast
import math
import re
import tracemalloc
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policygen.core import quantity

TABLE = [
    line.split("\t")
    for line in (Path(__file__).parents[1] / "data" / "quantities.tsv")
    .read_text("utf-8")
    .splitlines()
    if not line.startswith("#")
]


def test_texts_read_as_go_reads_them():
    compared = 0
    for _, shown, canonical, *numbers in (row for row in TABLE if row[0] == "p"):
        text = ast.literal_eval(f'"{shown}"')
        if canonical == "error":
            with pytest.raises(ValueError, match=r"quantity|finite|write"):
                quantity.parse(text)
            continue
        read = quantity.parse(text)
        milli, value = numbers
        assert quantity.canonical(read) == canonical, text
        assert milli == "-" or quantity.cpu_milli(text) == int(milli), text
        assert value == "-" or quantity.memory_bytes(text) == int(value), text
        compared += 1
    assert compared > 3000


def test_numbers_are_written_as_go_writes_them():
    writers = {"c": quantity.from_cpu_milli, "b": quantity.from_memory_bytes}
    rows = [row for row in TABLE if row[0] in writers]
    assert len(rows) > 300
    for column, number, canonical in rows:
        assert writers[column](int(number)) == canonical


@pytest.mark.parametrize(
    "value, canonical",
    [
        (0, "0"),
        (8, "8"),
        (1024, "1024"),
        (1000, "1k"),
        (-3, "-3"),
        (0.5, "500m"),
        (1.2, "1200m"),
        (2.0, "2"),
        (1e16, "10P"),
        (1e-5, "10u"),
        (1e-300, "1n"),
        (-0.0, "0"),
    ],
)
def test_yaml_numbers_count_as_their_shortest_text(value, canonical):
    assert quantity.canonical(quantity.parse(value)) == canonical


@pytest.mark.parametrize(
    "value, message",
    [
        ("80GB", '"80GB" is not a valid quantity; write 80Gi or 80G'),
        ("80 GB", '"80 GB" is not a valid quantity; write 80Gi or 80G'),
        ("80GiB", '"80GiB" is not a valid quantity; write 80Gi'),
        ("80gb", '"80gb" is not a valid quantity; write 80Gi or 80G'),
        ("64K", '"64K" is not a valid quantity; write 64Ki or 64k'),
        ("64ki", '"64ki" is not a valid quantity; write 64Ki'),
        ("100B", '"100B" is not a valid quantity; write 100'),
        ("4 cores", '"4 cores" is not a valid quantity; write 4'),
        ("1 Gi", '"1 Gi" has a space in it; write 1Gi'),
        ("1Gi\n", '"1Gi\\n" has a space in it; write 1Gi'),
        ("1_000", '"1_000" has an underscore in it; write 1000'),
        ("1,5Gi", '"1,5Gi" has a comma in it; write 1.5Gi or 15Gi'),
        ("1,000,000", '"1,000,000" has commas in it; write 1000000'),
        ("0x10", '"0x10" is not a decimal number; write 16'),
        ("\uff18\uff10Gi", "only look like ASCII; write 80Gi"),
        ("1e3Ki", '"1e3Ki" has both an exponent and a suffix; write only one of them'),
        ("", "an empty text is not a valid quantity"),
        (" \t", "an empty text is not a valid quantity"),
        ("NaN", '"NaN" is not a finite number'),
        ("-inf", '"-inf" is not a finite number'),
        ("50%", '"50%" is not a valid quantity; write a number with at most one suffix'),
        ("\x1b[31m1", '"\\u001b[31m1" is not a valid quantity'),
        (math.nan, "nan is not a finite number"),
        (math.inf, "inf is not a finite number"),
        (True, "true is not a valid quantity"),
        (None, "null is not a valid quantity"),
        ([1], "a list is not a valid quantity"),
    ],
)
def test_an_invalid_quantity_is_refused_with_a_remedy(value, message):
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        quantity.parse(value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "value, message",
    [
        ("1e9999999", "out of range"),
        ("1e-9999999", "out of range"),
        ("0e9999999999999999999999", "out of range"),
        ("9" * 5000, "5000 characters"),
        ("0." + "0" * 5000 + "1", "5003 characters"),
        pytest.param(10**5000, "5001 digits is too large", id="int of 5001 digits"),
        (1e300, "too large"),
        ("1000E", "too large"),
        ("1e21", "too large"),
    ],
)
def test_absurd_numbers_are_refused_before_they_are_made(value, message):
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=message):
            quantity.parse(value)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100_000  # the bytes of 10^9999999 are 4 million


@pytest.mark.parametrize("text", [".", "+", "-", "m", "Ki", "e3", ".Gi", "-.5.", "+k"])
def test_a_text_without_digits_is_refused_although_go_reads_zero(text):
    with pytest.raises(ValueError, match="is not a valid quantity"):
        quantity.parse(text)


@pytest.mark.parametrize("text, canonical", [("+1k", "1k"), ("1E3", "1e3"), ("1.250", "1250m")])
def test_the_canonical_text_does_not_repeat_the_input_as_go_does(text, canonical):
    assert quantity.canonical(quantity.parse(text)) == canonical


def test_what_64_bits_cannot_count_is_refused():
    assert quantity.memory_bytes("9Ei") == quantity.MAX_INT64  # as Kubernetes caps it
    with pytest.raises(ValueError, match="of memory is too large for Kubernetes"):
        quantity.memory_bytes("10E")
    with pytest.raises(ValueError, match="of cpu is too large for Kubernetes"):
        quantity.cpu_milli("10P")
    assert quantity.from_memory_bytes(1 << 70) == str(quantity.MAX_INT64)


def test_negative_amounts_round_away_from_zero():
    assert quantity.cpu_milli("-1.5m") == -2
    assert quantity.memory_bytes("-0.5") == -1


@given(
    st.fractions(min_value=-(10**12), max_value=10**12, max_denominator=10**6),
    st.sampled_from(quantity.Format),
)
def test_canonical_text_reads_back_as_the_same_value_and_is_stable(value, form):
    number = Fraction(math.ceil(value * 10**9), 10**9)
    text = quantity.canonical(quantity.Quantity(number, form))
    again = quantity.parse(text)
    assert again.value == number
    # A text without a suffix is read as decimal, whatever its form was.
    assert quantity.canonical(quantity.Quantity(again.value, form)) == text


@given(st.integers(min_value=-quantity.MAX_INT64, max_value=quantity.MAX_INT64))
def test_counts_survive_their_text(count):
    assert quantity.memory_bytes(quantity.from_memory_bytes(count)) == count
    milli = count // 10**3
    assert quantity.cpu_milli(quantity.from_cpu_milli(milli)) == milli


@pytest.mark.parametrize(
    ("text", "value"),
    [("m", 0), ("+", 0), (".", 0), ("Gi", 0), (" 1 ", 1), ("8", 8), (2, 2), ("e3", 0)],
)
def test_a_field_is_read_as_an_api_server_reads_it(text, value):
    assert quantity.read(text).value == value
    if isinstance(text, str):
        assert quantity.value_of(text) == value


@pytest.mark.parametrize("text", ["", " ", "1 Gi", "\t1", "gb", None, "++"])
def test_what_an_api_server_refuses_to_read(text):
    with pytest.raises(ValueError, match="; write "):
        quantity.read(text)
