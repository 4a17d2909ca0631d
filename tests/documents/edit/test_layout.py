"""The layout of a document: where nodes end, and scalars in the style of the document."""

import pytest

from policygen.documents.document import load
from policygen.documents.edit.layout import Text
from policygen.documents.files import Source


def text(it, name="a.yaml"):
    ((document,), _) = load(Source(name, it, None))
    return Text(document)


def end(it, *path):
    """The text after a node on its line."""
    step, _ = it.outline.find(path)
    return it.text[it.end(step.node, step.key) :]


def test_a_block_ends_with_its_last_scalar():
    it = text("a: # x\n  b:\n  - c\n\n  # y\nd: [e]\nf:\ng: &h\n")
    assert end(it, "a") == "\n\n  # y\nd: [e]\nf:\ng: &h\n"
    assert end(it, "d") == "\nf:\ng: &h\n"
    assert end(it, "f") == "\ng: &h\n"


def test_brackets_and_lines():
    it = text("a: &x {b: c}\nd: [\n e]\nf: g")
    step, _ = it.outline.find(("a",))
    assert it.is_flow(step.node)
    assert it.char(step.node) == "{"
    assert not it.is_flow(0)
    assert it.text[it.line_start(9) : it.line_end(9)] == "a: &x {b: c}"
    assert it.text[it.next_line(9) :].startswith("d")
    assert it.next_line(len(it.text)) == it.line_end(len(it.text)) == len(it.text)


@pytest.mark.parametrize(
    ("value", "yaml", "json"),
    [
        ("a100", "a100", '"a100"'),
        ("yes", '"yes"', '"yes"'),
        ("1", '"1"', '"1"'),
        ("a b", '"a b"', '"a b"'),
        ("é", '"é"', '"é"'),
        (1.5, "1.5", "1.5"),
        (False, "false", "false"),
        (("a", "b c"), '[a, "b c"]', '["a", "b c"]'),
    ],
)
def test_a_value_in_its_plainest_form(value, yaml, json):
    assert text("a: 1\n").written(value) == yaml
    assert text('{"a": 1}\n').written(value) == json
    assert text("a: 1\n", "a.json").written(value) == json


def test_quotes_stay():
    it = text("a: 1\n")
    assert it.like('"x"', "a") == '"a"'
    assert it.like("'x'", "it's") == "'it''s'"
    assert it.like("'x'", "a\n") == '"a\\n"'
    assert it.like("x", "a") == "a"
    assert it.like('"x"', 1) == "1"


def test_the_places_that_a_node_is_used_for():
    it = text("a: &a {b: 1}\nc: *a\nd: {<<: *a}\ne: &e x\nf: *e\n")
    shared, _ = it.outline.find(("e",))
    merged, _ = it.outline.find(("a", "b"))
    assert it.shared[shared.node] == 2
    assert it.shared[merged.node] == 0
    assert text("a: 1\n").shared == {}
