"""Comments are recognised as YAML recognises them."""

import pytest

from policygen.documents.edit.comments import comments


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("a: b # c\n# d  \n", ["# c", "# d"]),
        ("a: 'b # c' # d\n", ["# d"]),
        ("a: | # b\n  # c\n# d\n", ["# b", "# d"]),
        ("a: b#c\n", []),
        ("[a, # b\n c]\n", ["# b"]),
    ],
)
def test_comments_are_what_yaml_takes_for_some(text, wanted):
    assert comments(text) == wanted
