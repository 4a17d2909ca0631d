"""The meaning of plain scalars, against tables written by hand."""

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from policygen.documents.scalars import AmbiguousScalar, read, shorten

PLAIN = [
    ("", None),
    *((word, None) for word in ("~", "null", "Null", "NULL")),
    *((word, True) for word in ("true", "True", "TRUE")),
    *((word, False) for word in ("false", "False", "FALSE")),
    ("0", 0),
    ("-7", -7),
    ("12345678901234567890", 12345678901234567890),
    ("1.30", 1.3),
    ("-0.5", -0.5),
    ("0.00000000000000000000000001", 1e-26),
    *((text, text) for text in ("80GB", "1Gi", "1.2.3", "10.0.0.0/8", "-", ".", "...", "1e", "0x")),
    *((text, text) for text in ("nO", "tRUE", "yess", "nan", "inf", "12:99", "2026-1", "-a", "+b")),
]

SURPRISES = [
    *((w, "as true, others as text", f'write true, or "{w}" in quotes') for w in ("yes", "Yes")),
    *(
        (w, "as true, others as text", f'write true, or "{w}" in quotes')
        for w in ("YES", "on", "On", "ON", "y", "Y")
    ),
    *(
        (w, "as false, others as text", f'write false, or "{w}" in quotes')
        for w in ("no", "No", "NO", "off")
    ),
    *(
        (w, "as false, others as text", f'write false, or "{w}" in quotes')
        for w in ("Off", "OFF", "n", "N")
    ),
    (
        "0777",
        "as 511, others as 777",
        'write 511, 777, or "0777" in quotes',
    ),
    ("-010", "as -8, others as -10", 'write -8, -10, or "-010"'),
    ("09", "as a number, others as text", 'write 9, or "09" in quotes'),
    ("00", "as a number, others as text", 'write 0, or "00" in quotes'),
    ("0o17", "as a number, others as text", 'write 15, or "0o17"'),
    ("0x1F", "as a number, others as text", 'write 31, or "0x1F"'),
    ("-0x1f", "as a number, others as text", 'write -31, or "-0x1f"'),
    ("0b101", "as a number, others as text", 'write 5, or "0b101"'),
    ("1_000", "as a number, others as text", 'write 1000, or "1_000"'),
    ("1_000.5", "as a number, others as text", 'write 1000.5, or "1_000.5"'),
    ("12:30", "as a number in base 60", 'write "12:30" in quotes'),
    ("1:30:00", "as a number in base 60", 'write "1:30:00" in quotes'),
    ("1e3", "as a number, others as text", 'write 1000, or "1e3" in quotes'),
    ("1.5E3", "as a number, others as text", 'write 1500, or "1.5E3" in quotes'),
    ("25e-2", "as a number, others as text", 'write 0.25, or "25e-2" in quotes'),
    ("1e9999999", "as a number, others as text", 'write "1e9999999" in quotes'),
    (".5", "as a number, others as text", 'write 0.5, or ".5"'),
    ("5.", "as a number, others as text", 'write 5, or "5."'),
    ("+5", "as a number, others as text", 'write 5, or "+5"'),
    (".inf", "as infinity or NaN", 'write ".inf" in quotes'),
    ("-.INF", "as infinity or NaN", 'write "-.INF" in quotes'),
    (".NaN", "as infinity or NaN", 'write ".NaN" in quotes'),
    ("2026-01-31", "as a date", 'write "2026-01-31" in quotes'),
    ("2026-01-31T10:20:30Z", "as a date", 'write "2026-01-31T10:20:30Z"'),
    ("2026-01-31 10:20:30.5 +2", "as a date", "in quotes"),
    ("=", "as text", 'write "=" in quotes'),
    ("<<", "is the merge key of YAML", 'write "<<" in quotes'),
]


@pytest.mark.parametrize("text, value", PLAIN)
def test_a_plain_scalar_has_its_yaml_1_2_value(text, value):
    found = read(text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("text, problem, remedy", SURPRISES)
def test_an_ambiguous_value_has_a_remedy(text, problem, remedy):
    found = read(text)
    assert isinstance(found, AmbiguousScalar)
    assert found.rule.name == "ambiguous-yaml-value"
    assert f"{text} {problem}" in found.message()
    assert remedy in found.message()
    assert found.message(key=True).endswith(f'; write "{text}" in quotes')


@pytest.mark.parametrize("text", ["1" * 21, "-" + "1" * 21, "1" * 5000, "0." + "1" * 21])
def test_a_long_number_is_refused_before_it_is_computed(text):
    found = read(text)
    assert isinstance(found, AmbiguousScalar)
    assert found.rule.name == "number-too-long"
    assert f"has {len(text.strip('-0.'))} digits" in found.message()
    assert len(found.message()) < 200


@pytest.mark.parametrize(
    "text", ["0x" + "f" * 9999, "0" * 9999, "1_" * 5000 + "1", "1:" * 9999 + "1"]
)
def test_a_long_ambiguous_value_makes_no_long_message(text):
    assert len(read(text).message()) < 200


@settings(max_examples=300)
@given(
    st.text("0123456789+-._:eExXoObBnNyYaAfFtTzZ =<~", min_size=1, max_size=12)
    | st.from_regex(r"[-+]?(0[xob])?[0-9_.]{1,6}([eE][-+]?[0-9]{1,2})?", fullmatch=True)
    | st.from_regex(r"[-+]?[0-9]{1,2}(:[0-9]{1,2}){1,2}(\.[0-9]?)?", fullmatch=True)
)
def test_what_pyyaml_takes_for_more_than_text_is_never_read_as_text(text):
    try:
        values = yaml.safe_load(f"[{text}]")
    except (yaml.YAMLError, ValueError):
        return
    if len(values) == 1 and not isinstance(values[0], str | dict | list):
        assert not isinstance(read(text.strip()), str)


def test_long_text_is_shortened():
    assert shorten("x" * 30) == "x" * 30
    assert shorten("x" * 31) == "x" * 25 + "..."
