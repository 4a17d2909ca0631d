"""Surrogate escapes are valid in JSON, but not in YAML."""

import pytest

from policygen.documents.surrogates import has_escapes, has_surrogate, masked, unmasked
from tests.documents.reading import read_text


@pytest.mark.usefixtures("parser")
def test_an_escaped_surrogate_pair_is_not_yaml():
    _, findings = read_text('a: "\\ud83d\\ude00"\n')
    assert [(f.place.line, f.rule.name) for f in findings] == [(1, "yaml-syntax")]
    assert "write the character itself" in findings[0].message


PAIR = r"\ud83d\ude00"


def test_pairs_are_masked_and_other_escapes_are_not():
    text = rf'["{PAIR}", "\\ud83d\ude00", "\u00e9", "\n"]'
    assert masked(text) == rf'["{"x" * 12}", "\\ud83d\ude00", "\u00e9", "\n"]'
    assert masked('["a"]') == '["a"]'


def test_what_was_masked_has_the_value_of_json():
    assert unmasked(f'"a{PAIR}\tb"') == "a\U0001f600\tb"
    assert unmasked(r'"\\ud83d\\ude00"') is None
    assert unmasked(f"{PAIR}") == "\ud800"


def test_halves_are_found():
    assert has_surrogate("a\udcff")
    assert not has_surrogate("a\U0001f600\uffff")
    assert has_escapes(r"\uDC00")
    assert not has_escapes(r"\ue000")
