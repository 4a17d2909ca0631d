"""Replacements in a text: which can be combined, and the resulting text."""

import pytest

from policygen.documents.document import inner, load
from policygen.documents.edit.apply import EditError
from policygen.documents.edit.splice import Splice, Taken, joined, outer, spliced
from policygen.documents.files import Source


def test_changes_that_touch_are_not_made_together():
    taken = Taken()
    one, same_, touching, far = (
        Splice(*each) for each in [(4, 6, "a"), (4, 6, "a"), (6, 7, ""), (8, 8, "b")]
    )
    assert [taken.take([each]) for each in (one, same_, touching, far)] == [True, True, False, True]


def test_parts_are_replaced_with_the_line_breaks_of_the_text():
    parts = [Splice(6, 7, "x\ny"), Splice(0, 1, ""), Splice(0, 1, "")]
    assert spliced("a: 1\r\nb\r\n", parts) == ": 1\r\nx\r\ny\r\n"
    assert spliced("ab", []) == "ab"


def test_changes_at_one_place_become_one():
    parts = [Splice(5, 6, "c"), Splice(3, 3, "a"), Splice(3, 3, "b"), Splice(5, 6, "c")]
    assert joined(parts) == [Splice(3, 3, "ab"), Splice(5, 6, "c")]
    with pytest.raises(EditError, match="two changes of this fix overlap"):
        joined([Splice(3, 6, "a"), Splice(5, 7, "b")])


HOST = "data:\n  f.yaml: |\n    a: 1\n\n    b: 2\nkind: X\n"


def inside(part, host=HOST, path=("data", "f.yaml")):
    """The outer text after a change of the text inside it."""
    ((document,), _) = load(Source("a.yaml", host, None))
    it, _ = inner(document, path, index=1)
    return spliced(host, [outer(it.positions, part)])


@pytest.mark.parametrize(
    ("part", "wanted"),
    [
        (Splice(3, 4, "7"), HOST.replace("1", "7")),
        (Splice(0, 5, ""), HOST.replace("    a: 1\n", "")),
        (Splice(0, 0, "z: 0\n"), HOST.replace("    a", "    z: 0\n    a")),
        (Splice(11, 11, "c: 3\n"), HOST.replace("b: 2\n", "b: 2\n    c: 3\n")),
    ],
)
def test_a_change_inside_a_literal_block_keeps_its_indentation(part, wanted):
    assert inside(part) == wanted


def test_a_text_of_another_form_is_not_changed():
    with pytest.raises(EditError, match="only texts in a block"):
        inside(Splice(3, 4, "7"), 'a: "b: 1"\n', ("a",))
