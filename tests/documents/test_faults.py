"""Valid YAML that a spec must not contain: its position, and the remedy."""

import pytest

from policygen.core.rule import Severity
from tests.documents.reading import read_text, summaries

CONTENT = {
    "value": ("a: no\n", [(1, 4, "no", "ambiguous-yaml-value", 'write false, or "no" in quotes')]),
    "key": ("on: 1\n", [(1, 1, "on", "ambiguous-yaml-value", 'write "on" in quotes')]),
    "in lists": (
        "a: [0777, 12:30]\n",
        [
            (1, 5, "0777", "ambiguous-yaml-value", "some programs read 0777 as 511, others as 777"),
            (1, 11, "12:30", "ambiguous-yaml-value", "a number in base 60"),
        ],
    ),
    "long number": (
        f"a: {'1' * 5000}\n",
        [(1, 4, "1" * 5000, "number-too-long", "has 5000 digits")],
    ),
    "twice": (
        "a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n",
        [(5, 3, "c", "duplicate-key", 'key "c" is set twice, first on line 3; remove one')],
    ),
    "three times": (
        'a: 1\n"a": 2\na: 3\n',
        [
            (2, 1, '"a"', "duplicate-key", "first on line 1"),
            (3, 1, "a", "duplicate-key", "first on line 1"),
        ],
    ),
    "separator missing": (
        "apiVersion: a\nkind: b\nspec: {c: 1, c: 2}\napiVersion: a\nkind: b\nspec: 1\nkind: d\n",
        [
            (3, 14, "c", "duplicate-key", 'key "c" is set twice'),
            (4, 1, "apiVersion", "duplicate-key", "write --- on a line before this line"),
        ],
    ),
    "two headers in braces": (
        "{apiVersion: a, kind: b, apiVersion: a, kind: b}\n",
        [
            (1, 26, "apiVersion", "duplicate-key", "remove one of the two"),
            (1, 41, "kind", "duplicate-key", "remove one of the two"),
        ],
    ),
    "twice in braces": (
        "a: {b: 1, c: 2, b: 3}\n",
        [(1, 17, "b", "duplicate-key", 'key "b" is set twice, first on line 1')],
    ),
    "number key": (
        "1: a\n2.5: b\n",
        [
            (1, 1, "1", "key-not-a-string", 'a key must be text; write "1" in quotes'),
            (2, 1, "2.5", "key-not-a-string", 'write "2.5" in quotes'),
        ],
    ),
    "word key": (
        "true: a\n~: b\n",
        [
            (1, 1, "true", "key-not-a-string", 'write "true" in quotes'),
            (2, 1, "~", "key-not-a-string", 'write "~" in quotes'),
        ],
    ),
    "list key": (
        "? [a, b]\n: c\n",
        [(1, 3, "[a, b]", "key-not-a-string", "a key must be text, not a mapping or a list")],
    ),
    "template": (
        "a: {{ x }}\n",
        [(1, 5, "{ x }", "key-not-a-string", "this looks like a template; render the template")],
    ),
    "binary": (
        "a: !!binary aGk=\n",
        [(1, 4, "!!binary", "yaml-tag", "tag !!binary is not supported")],
    ),
    "custom tag": (
        "a: !Ref x\nb: !x {c: 1}\nd: !y\n",
        [
            (1, 4, "!Ref", "yaml-tag", "tag !Ref is not supported; write the value without it"),
            (2, 4, "!x", "yaml-tag", "tag !x is not supported"),
            (3, 4, "!y", "yaml-tag", "tag !y is not supported"),
        ],
    ),
    "python tag": (
        "a: !!python/object:os.system x\n",
        [
            (
                1,
                4,
                "!!python/object:os.system",
                "yaml-tag",
                "!!python/object:os.system is not supported",
            )
        ],
    ),
    "recursive alias": (
        "a: &x\n  b: *x\n",
        [(2, 6, "*x", "recursive-alias", 'alias "*x" is inside the value of its anchor')],
    ),
    "merge of text": (
        "a:\n  <<: b\n  c: 1\n",
        [(2, 7, "b", "merge-not-a-mapping", 'the value of "<<" must be a mapping')],
    ),
    "two merges": (
        "a: &a {b: 1}\nc:\n  <<: *a\n  <<: *a\n",
        [(4, 3, "<<", "duplicate-key", 'with one key: "<<: [*a, *b]"')],
    ),
    "merge as a value": ("a: <<\n", [(1, 4, "<<", "ambiguous-yaml-value", 'write "<<" in quotes')]),
    "list": ("- a\n- b\n", [(1, 1, "- a", "not-a-mapping", "must be a mapping (lines")]),
    "text": ("hello world\n", [(1, 1, "hello world", "not-a-mapping", "not text")]),
    "number": ("12\n", [(1, 1, "12", "not-a-mapping", "not a number")]),
}


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize("text, expected", CONTENT.values(), ids=CONTENT)
def test_what_yaml_allows_and_a_spec_does_not(text, expected):
    _, findings = read_text(text)
    found = summaries(findings)
    assert [finding[:4] for finding in found] == [finding[:4] for finding in expected]
    for (*_, message), (*_, piece) in zip(found, expected, strict=True):
        assert piece in message
        assert "\n" not in message
        assert not message.endswith(".")
    assert {finding.severity for finding in findings} == {Severity.ERROR}


def test_all_problems_of_a_document_are_reported_at_once():
    _, findings = read_text("a: no\nb: 0777\nb: 1\n3: x\nc: !t y\nd: {e: .5}\n")
    assert sorted((f.place.line, f.rule.name) for f in findings) == [
        (1, "ambiguous-yaml-value"),
        (2, "ambiguous-yaml-value"),
        (3, "duplicate-key"),
        (4, "key-not-a-string"),
        (5, "yaml-tag"),
        (6, "ambiguous-yaml-value"),
    ]


def test_too_many_problems_are_counted():
    _, findings = read_text("a: 1\n" * 3000)
    assert len(findings) == 1001
    assert findings[0].message == "this document has 1999 more errors; fix the errors above first"
