"""Lines and columns of plain text, and of text inside another text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policygen.core.finding import Place
from policygen.documents.positions import Inset, Lines, line_start, literal_origins


@pytest.mark.parametrize(
    "span, expected",
    [
        ((0, 2), (1, 1, 2, "ab")),
        ((1, 99), (1, 2, 1, "ab")),
        ((2, 3), (1, 3, 0, "ab")),
        ((4, 5), (2, 1, 1, "c")),
        ((6, 7), (3, 1, 0, "")),
        ((7, 8), (4, 1, 1, "d")),
        ((9, 9), (4, 2, 0, "d")),
        ((99, 100), (4, 2, 0, "d")),
        ((8, 7), (4, 2, 0, "d")),
    ],
)
def test_lines(span, expected):
    place = Lines("f", "ab\r\nc\n\rd\n").place(*span)
    line, column, length, text = expected
    assert place == Place("f", line, column, length, text)


def test_an_empty_text_has_one_line():
    assert Lines("f", "").place(0, 1) == Place("f", 1, 1, 0, "")


def test_a_literal_block_is_found_in_its_host():
    host = Lines("f", "a: |\n\n    one\n\n      two\nb: 1\n")
    inner = "\none\n\n  two\n"
    origins = literal_origins(inner, host.text, 3)
    inset = Inset(inner, host, Place("f", 1, 4, 1, "a: |"), origins)
    assert inset.place(1, 4) == Place("f", 3, 5, 3, "    one")
    assert inset.place(8, 11) == Place("f", 5, 7, 3, "      two")
    assert inset.place(0, 1).line == 2
    assert inset.place(99, 99) == Place("f", 5, 10, 0, "      two")


def test_what_is_not_found_in_the_host_has_the_place_of_the_whole():
    host = Lines("f", "a: |\n  one\n")
    fallback = Place("f", 1, 4, 1, "a: |")
    other = "two\n"
    assert (
        Inset(other, host, fallback, literal_origins(other, host.text, 3)).place(0, 3) == fallback
    )
    assert Inset(other, host, fallback, []).place(0, 3) == fallback


@given(st.text(st.sampled_from("a\r\n"), max_size=9), st.integers(0, 9))
def test_a_line_begins_behind_the_break_before_it(text, index):
    begin = line_start(text, index)
    assert not {"\r", "\n"} & set(text[begin:index])
    assert begin == 0 or text[begin - 1] in "\r\n"
