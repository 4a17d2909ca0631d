"""Input values in messages are on one line, short, and without terminal control characters."""

import pytest

from policygen.core.quoting import (
    MAX_SHOWN,
    as_arguments,
    as_yaml,
    bare,
    counted,
    listed,
    quoted,
    short,
    shown,
    some,
    times,
)


def test_a_long_text_is_cut_to_the_maximum():
    assert short("x" * MAX_SHOWN) == "x" * MAX_SHOWN
    cut = short("x" * (MAX_SHOWN + 1))
    assert (len(cut), cut[-4:]) == (MAX_SHOWN, "x...")


def test_a_string_that_yaml_reads_as_another_type_is_in_quotes():
    words = ["true", "No", "10", "1e3", "", "a100", "example.com/a"]
    assert [as_yaml(it) for it in words] == [*map(quoted, words[:5]), *words[5:]]


def test_how_often():
    assert [times(it) for it in (1, 2)] == ["once", "2 times"]


def test_escapes():
    assert quoted('a "b"\n\x1b\u202e\u65e5') == r'"a \"b\"\n\u001b\u202e' + '\u65e5"'
    assert bare('a "b"\n') == r'a "b"\n'
    assert quoted("\ud800") == r'"\ud800"'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "an empty value"),
        (True, "true"),
        (False, "false"),
        ("true", '"true"'),
        (0, "0"),
        (1.5, "1.5"),
        ([1], "a list"),
        ({}, "a mapping"),
        (b"", "a bytes"),
    ],
)
def test_values_of_each_type(value, text):
    assert shown(value) == text


def test_words_in_a_sentence():
    assert listed(["a"]) == "a"
    assert listed(["a", "b"]) == "a or b"
    assert listed(["a", "b", "c"], "and") == "a, b and c"


def test_the_first_of_many_words():
    assert some(["a"], "node") == "a"
    assert some(["a", "b", "c"], "node") == "a, b and c"
    assert some(["a", "b", "c", "d"], "other node") == "a, b, c and 1 other node"
    assert some(["a", "b", "c"], "node", 1) == "a and 2 nodes"


def test_a_number_of_things():
    assert [counted(number, "more kind") for number in (0, 1, 2)] == [
        "0 more kinds", "1 more kind", "2 more kinds",
    ]  # fmt: skip
    assert [counted(number, "entry", "entries") for number in (1, 2)] == ["1 entry", "2 entries"]


def test_names_as_arguments_of_a_command():
    assert as_arguments(["a", "b"], 2) == "a b"
    assert as_arguments(["a", "b", "c"], 2) == "a b ..."
