"""Texts with characters that YAML does not allow are read without them."""

import pytest

from tests.counting import growth
from tests.documents.reading import leaf_paths, read_text, summaries


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    "text, data, flawed",
    [
        ("a: b\x1bc\nd: e\n", {"a": "bc", "d": "e"}, {("a",)}),
        ("a: 16\x85\nd: e\n", {"a": 16, "d": "e"}, {("a",)}),
        ("a: 16  \x1b\n", {"a": 16}, {("a",)}),
        ("a: \x1b16\n", {"a": 16}, {("a",)}),
        ("a: \x1b \nb: 1\n", {"a": None, "b": 1}, {("a",)}),
        ("a: 1 # \x1b\nb: '\x1b\x1b'\n", {"a": 1, "b": ""}, {("b",)}),
        ("a: |\n  x\x07\n  y\nb: [1, \x072]\n", {"a": "x\ny\n", "b": [1, 2]}, {("a",), ("b", 1)}),
        ("{\x1b}\n", {}, set()),
        ("\x1b# x\na: *b\n", None, set()),
        ('{"a": "\x1b\\ud83d\\ude00"}', {"a": "\U0001f600"}, {("a",)}),
    ],
)
def test_a_text_is_read_without_what_is_forbidden(text, data, flawed):
    documents, findings = read_text(text)
    assert findings[0].rule.name == "yaml-syntax"
    assert "not allowed; remove the" in findings[0].message
    if data is None:
        assert [summaries(findings)[1][2], documents[0].data] == ["*b", {"a": None}]
        return
    (document,) = documents
    assert (document.data, len(findings)) == (data, 1)
    assert {path for path, _ in leaf_paths(data) if document.is_flawed(path)} == flawed
    for path, _ in leaf_paths(data):
        assert document.place(path).text in text.split("\n")


@pytest.mark.parametrize("text", ["a: \x1b", "a: \x1b x\n---\n", "# \x1b"])
def test_the_work_of_forbidden_characters_grows_no_faster_than_they_do(text):
    assert growth(lambda: read_text(text * 200), lambda: read_text(text * 2_000)) < 12
