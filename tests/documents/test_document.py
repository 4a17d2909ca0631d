"""Reading documents: data, places, and every way in which a text can be wrong."""

import io
import json
from pathlib import Path

import pytest
import ruamel.yaml
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from policygen.core.finding import At, Finding, Hit
from policygen.core.rule import Severity
from policygen.documents import fast_json, fast_yaml, yaml_stream
from policygen.documents import parse as composing
from policygen.documents import parsed as documents_parsed
from policygen.documents.decode import NotTextError, decode
from policygen.documents.document import Header, inner, load
from policygen.documents.files import Source
from policygen.documents.locate import locate, ordered
from policygen.documents.outline import Outline
from policygen.documents.scalars import AmbiguousScalar, read
from tests.counting import counted, growth
from tests.rules import rule


def everything(_):
    return True


def read_text(text, name="a.yaml"):
    return load(Source(name, text, None), ours=everything)


def marked(place):
    """The text that a place underlines."""
    return place.text[place.column - 1 : place.column - 1 + place.length]


def told(findings):
    return [
        (f.place.line, f.place.column, marked(f.place), f.rule.name, f.message) for f in findings
    ]


def only(text, name="a.yaml"):
    documents, findings = read_text(text, name)
    assert told(findings) == []
    (document,) = documents
    return document


@pytest.fixture(params=["CSafeLoader", "SafeLoader"])
def parser(request, monkeypatch):
    """libyaml, and what is used where it is missing."""
    monkeypatch.setattr(yaml_stream, "_LOADER", getattr(yaml, request.param))
    return request.param


# What is wrong with the text as such: line, column, underlined text, and pieces of the message.
SYNTAX = {
    "tab": ("a:\n\tb: 1\n", 2, 1, "\t", "a tab is used for indentation; write spaces"),
    "tab below a value": ("a:\n  b: 1\n\tc: 2\n", 3, 1, "\t", "a tab is used"),
    "tab after blanks": ("a:\n - b\n \t- c\n", 3, 2, "\t", "a tab is used"),
    "tab in a block": ("a: |\n\tb\n", 2, 1, "\t", "a tab is used"),
    "at": ("a: @x  # y\n", 1, 4, "@x  # y", 'text cannot begin with "@"; put it in quotes'),
    "backtick": ("a: `x`\n", 1, 4, "`x`", 'cannot begin with "`"'),
    "percent": ("a: %x\n", 1, 4, "%x", 'cannot begin with "%"'),
    "comma": ("a: ,x\n", 1, 4, ",x", 'cannot begin with ","'),
    "two colons": ("a: b: c\n", 1, 5, ":", 'a second ": " on this line; put the value in quotes'),
    "deeper below a value": ("a: b\n  c: d\n", 2, 4, ":", "check the indentation"),
    "no colon": ("a: 1\nbcd \nc: 2\n", 2, 1, "bcd", 'a ":" is missing; write "key: value"'),
    "no key": (": 1\n", 1, 1, ":", 'a key is missing before ":"'),
    "no key in braces": ("a: {: 1}\n", 1, 5, ":", 'a key is missing before ":"'),
    "byte-order mark": ("\ufeffa: 1\n", 1, 1, "\ufeff", "U+FEFF is not allowed; remove it"),
    "line separator": ("a: 'b\u2028'\n", 1, 6, "\u2028", "U+2028 is not allowed; remove it"),
    "next line": ("a: b\x85c\nd: 1", 1, 5, "\x85", "U+0085 is not allowed; remove it"),
    "open quote": ('a: "x\nb: 1\n', 1, 4, '"x', 'this quote (") is never closed'),
    "open single quote": ("a: 'x\n", 1, 4, "'x", "this quote (') is never closed"),
    "after quote": ("a: 'it's'\n", 1, 8, "s'", "unexpected text after the value"),
    "less indented": (
        *("a:\n  b: 1\n c: 2\n", 3, 2, "c: 2"),
        "does not line up with the block that begins on line 1",
    ),
    "item among keys": ("a: 1\n- b\n", 2, 1, "- b", "a list item is among keys"),
    "key among items": ("- a\nb: 1\n", 2, 1, "b: 1", "a key is among list items"),
    "item in a value": ("a: - b\n", 1, 4, "-", 'write "- " on a line of its own'),
    "open bracket": ("a: [1, 2\n", 1, 4, "[", '"[" is never closed'),
    "open bracket, more": (
        *("a: [1, 2\nb: 3\n", 2, 2, ":"),
        'a "," or "]" is missing before this; the "[" on line 1 is still open',
    ),
    "empty bracket": ("a: [", 1, 4, "[", "a bracket is never closed"),
    "no value": ("a: [1,,2]\n", 1, 7, ",", 'a value is missing before ","'),
    "closing": ("a: ]\n", 1, 4, "]", 'cannot begin with "]"'),
    "closing twice": ("a: {b: }}\n", 1, 9, "}", '"}" closes nothing'),
    "question": ("a: ? b\n", 1, 4, "?", 'cannot begin with "? "'),
    "asterisk": ("a: *.txt\n", 1, 4, "*.txt", 'text that begins with "*" is an alias'),
    "ampersand": ("a: & b\n", 1, 4, "& b", 'text that begins with "&" is an anchor'),
    "no anchor": ("a: *x\n", 1, 4, "*x", 'alias "*x" has no anchor "&x" above it'),
    "tag handle": ("a: !e!x 1\n", 1, 4, "!e!x 1", 'text that begins with "!" is a tag'),
    "greater": ("a: >= 3\n", 1, 4, ">= 3", 'nothing but a line break may follow ">"'),
    "escape": ('a: "\\d"\n', 1, 5, "\\d", 'the escape "\\d" is unknown; write "\\\\"'),
    "windows path": ('a: "C:\\Users"\n', 1, 7, "\\U", 'escape "\\U" needs 8 hexadecimal digits'),
    "template": ("a: {{ .x }}/b\n", 1, 4, "{{ .x }}/b", "this looks like a template"),
    "directive": ("%x: 1\n", 1, 1, "%x: 1", "a line that begins with % is a directive"),
    "version": ("%YAML 3.0\n---\na: 1\n", 1, 1, "%YAML 3.0", "is a directive; remove it"),
    "no-break space": ("a:\xa0b\nc: 1\n", 1, 3, "\xa0", "this blank (U+00A0) is not a space"),
    "no-break indentation": ("a: 1\n\xa0b: c: 1\n", 2, 1, "\xa0", "is not a space; write a"),
    "no separator": (" a: 1\nb: 2\n", 2, 1, "b: 2", 'a new document with a line "---"'),
    "control": ("a: x\x07y\x1b\n", 1, 5, "\x07", "U+0007 is not allowed; remove it (1 more"),
    "delete": ("a: b\n# \x7f\n", 2, 3, "\x7f", "character U+007F is not allowed; remove it"),
    "lone surrogate": ("a: \udcff\n", 1, 4, "\udcff", "character U+DCFF is not allowed"),
    "windows line ends": ("a: 1\r\nb: c: d\r\n", 2, 5, ":", 'a second ": "'),
}


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize("text, line, column, under, message", SYNTAX.values(), ids=SYNTAX)
def test_broken_syntax(text, line, column, under, message):
    _, findings = read_text(text)
    ((*where, rule, said),) = told(findings)
    assert (*where, rule) == (line, column, under, "yaml-syntax")
    assert message in said


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
    assert "is not allowed; remove it" in findings[0].message
    if data is None:
        assert [told(findings)[1][2], documents[0].data] == ["*b", {"a": None}]
        return
    (document,) = documents
    assert (document.data, len(findings)) == (data, 1)
    assert {path for path, _ in leaf_paths(data) if document.is_flawed(path)} == flawed
    for path, _ in leaf_paths(data):
        assert document.place(path).text in text.split("\n")


@pytest.mark.parametrize("text", ["a: \x1b", "a: \x1b x\n---\n", "# \x1b"])
def test_the_work_of_forbidden_characters_grows_no_faster_than_they_do(text):
    assert growth(lambda: read_text(text * 200), lambda: read_text(text * 2_000)) < 12


CONTENT = {
    "value": ("a: no\n", [(1, 4, "no", "yaml-surprise", 'write false, or "no" in quotes')]),
    "key": ("on: 1\n", [(1, 1, "on", "yaml-surprise", 'write "on" in quotes')]),
    "in lists": (
        "a: [0777, 12:30]\n",
        [
            (1, 5, "0777", "yaml-surprise", "511 to some YAML readers and 777 to others"),
            (1, 11, "12:30", "yaml-surprise", "a number in base 60"),
        ],
    ),
    "long number": (
        f"a: {'1' * 5000}\n",
        [(1, 4, "1" * 5000, "number-too-long", "has 5000 digits")],
    ),
    "twice": (
        "a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n",
        [(5, 3, "c", "duplicate-key", 'key "c" is given twice, first on line 3; remove one')],
    ),
    "three times": (
        'a: 1\n"a": 2\na: 3\n',
        [
            (2, 1, '"a"', "duplicate-key", "first on line 1"),
            (3, 1, "a", "duplicate-key", "first on line 1"),
        ],
    ),
    "twice in braces": (
        "a: {b: 1, c: 2, b: 3}\n",
        [(1, 17, "b", "duplicate-key", 'key "b" is given twice, first on line 1')],
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
        [(1, 5, "{ x }", "key-not-a-string", "this looks like a template; fill it in first")],
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
        [(2, 7, "b", "merge-not-a-mapping", '"<<" must have a mapping')],
    ),
    "two merges": (
        "a: &a {b: 1}\nc:\n  <<: *a\n  <<: *a\n",
        [(4, 3, "<<", "duplicate-key", 'write "<<: [*a, *b]"')],
    ),
    "merge as a value": ("a: <<\n", [(1, 4, "<<", "yaml-surprise", 'write "<<" in quotes')]),
    "list": ("- a\n- b\n", [(1, 1, "- a", "not-a-mapping", "must be a mapping (lines")]),
    "text": ("hello world\n", [(1, 1, "hello world", "not-a-mapping", "not text")]),
    "number": ("12\n", [(1, 1, "12", "not-a-mapping", "not a number")]),
}


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize("text, expected", CONTENT.values(), ids=CONTENT)
def test_what_yaml_allows_and_a_spec_does_not(text, expected):
    _, findings = read_text(text)
    found = told(findings)
    assert [finding[:4] for finding in found] == [finding[:4] for finding in expected]
    for (*_, message), (*_, piece) in zip(found, expected, strict=True):
        assert piece in message
        assert "\n" not in message
        assert not message.endswith(".")
    assert {finding.severity for finding in findings} == {Severity.ERROR}


def test_all_problems_of_a_document_are_told_at_once():
    _, findings = read_text("a: no\nb: 0777\nb: 1\n3: x\nc: !t y\nd: {e: .5}\n")
    assert sorted((f.place.line, f.rule.name) for f in findings) == [
        (1, "yaml-surprise"),
        (2, "yaml-surprise"),
        (3, "duplicate-key"),
        (4, "key-not-a-string"),
        (5, "yaml-tag"),
        (6, "yaml-surprise"),
    ]


@pytest.mark.usefixtures("parser")
def test_a_broken_document_hides_no_other():
    documents, findings = read_text(
        "a: 1\n---\nb: 'x\n---\nc: no\n---\nd: [1,\n---\ne: 5\n--- \nf: @\n---\n---\ng: 7\n"
        "--- @h\n---\ni: 9\n"
    )
    assert [(d.index, d.data, d.line) for d in documents] == [
        (0, {"a": 1}, 1),
        (1, {"c": "no"}, 5),
        (2, {"e": 5}, 9),
        (3, {"g": 7}, 14),
        (4, {"i": 9}, 17),
    ]
    assert [(f.place.line, f.rule.name) for f in findings] == [
        (3, "yaml-syntax"),
        (5, "yaml-surprise"),
        (7, "yaml-syntax"),
        (11, "yaml-syntax"),
        (15, "yaml-syntax"),
    ]


def test_too_many_problems_are_counted():
    _, findings = read_text("a: 1\n" * 3000)
    assert len(findings) == 1001
    assert findings[-1].message == "this document has 1999 more errors; fix those above first"


@pytest.mark.usefixtures("parser")
def test_empty_documents_are_skipped():
    for text in ("", "\n", "# only\n", "---\n---\n", "--- null\n", "---\n# x\n...\n"):
        assert read_text(text) == ([], [])


def test_headers_and_what_is_ours():
    text = (
        "kind: Pod\napiVersion: v1\nmetadata: {name: x, 1: y}\non: no\non: 0777\n---\n"
        "apiVersion: policygen.dev/v1alpha1\nkind: Team\nmetadata:\n  name: 007\n---\n"
        "a: *b\nkind: [x]\n"
    )
    seen = []

    def ours(header):
        seen.append(header)
        return header.kind == "Team"

    documents, findings = load(Source("a", text, None), ours=ours, first_index=5)
    assert seen == [
        Header("v1", "Pod", "x"),
        Header("policygen.dev/v1alpha1", "Team", "007"),
        Header(None, None, None),
    ]
    assert [(d.index, d.header, d.data is None) for d in documents] == [
        (5, seen[0], True),
        (6, seen[1], False),
        (7, seen[2], True),
    ]
    # Of a foreign document only what is no YAML at all is told.
    assert [(f.place.line, f.rule.name) for f in findings] == [
        (10, "yaml-surprise"),
        (12, "yaml-syntax"),
    ]


def test_numbers_in_a_header_are_taken_as_written():
    (document,), _ = load(Source("a", "metadata: {name: 1.30}\n", None), ours=everything)
    assert document.header.name == "1.30"


@pytest.mark.usefixtures("parser")
def test_aliases_anchors_and_merges():
    document = only(
        "base: &base\n  x: 1\n  u: {z: [2]}\nmore: &more {w: 0, x: 9}\n"
        "own:\n  x: 3\n  <<: *base\nboth:\n  <<: [*base, *more]\nlist: &l [*base, 4]\n"
        "again: *l\nname: &n abc\nother: *n\nredefined: &n def\nlast: *n\n'<<': text\n"
        "inside: &i [&i 1]\ninner: *i\n"
    )
    base = {"x": 1, "u": {"z": [2]}}
    assert document.data == {
        "base": base,
        "more": {"w": 0, "x": 9},
        "own": {"x": 3, "u": {"z": [2]}},
        "both": {**base, "w": 0},
        "list": [base, 4],
        "again": [base, 4],
        "name": "abc",
        "other": "abc",
        "redefined": "def",
        "last": "def",
        "<<": "text",
        "inside": [1],
        "inner": 1,
    }
    # A tree: what changes one copy leaves the others alone.
    document.data["list"][0]["u"]["z"].append(5)
    assert document.data["base"] == base
    assert document.data["own"]["u"] == {"z": [2]}


@pytest.mark.usefixtures("parser")
def test_allowed_tags():
    assert only("a: !!str 1\nb: !!map {c: !!seq [d]}\ne: ! no\n").data == {
        "a": "1",
        "b": {"c": ["d"]},
        "e": "no",
    }


@pytest.mark.usefixtures("parser")
def test_places():
    document = only(
        "# head\n"
        "spec:\n"
        "  name: 'it''s'   # quoted\n"
        "  list:\n"
        "    - one: 1\n"
        "      two:\n"
        "    - [3,  four]\n"
        "  text: |\n"
        "    first\n"
        "  long: some\n"
        "    words\n"
        "  &k key: &v !!str  value\n"
        "  alias: *v\n"
        "  日本: \U0001f600 x\n"
        "  flow: {a: b}\n"
    )

    def at(*path, key=False):
        place = document.place(path, key=key)
        assert place.text == document.source.text.splitlines()[place.line - 1]
        return place.line, place.column, marked(place)

    assert document.line == 2
    assert at() == (2, 1, "spec:")
    assert at("spec") == (2, 1, "spec")
    assert at("spec", "name") == (3, 9, "'it''s'")
    assert at("spec", "name", key=True) == (3, 3, "name")
    assert at("spec", "list") == (4, 3, "list")
    assert at("spec", "list", 0) == (5, 7, "one: 1")
    assert at("spec", "list", 0, "one") == (5, 12, "1")
    assert at("spec", "list", 0, "two") == (6, 7, "two")
    assert at("spec", "list", 1) == (7, 7, "[3,  four]")
    assert at("spec", "list", 1, 1) == (7, 12, "four")
    assert at("spec", "list", 1, 1, key=True) == (7, 12, "four")
    assert at("spec", "text") == (8, 9, "|")
    assert at("spec", "long") == (10, 9, "some")
    assert at("spec", "key") == (12, 21, "value")
    assert at("spec", "key", key=True) == (12, 6, "key")
    assert at("spec", "alias") == (13, 10, "*v")
    assert at("spec", "日本") == (14, 7, "\U0001f600 x")
    assert at("spec", "日本", key=True) == (14, 3, "日本")
    assert at("spec", "flow") == (15, 3, "flow")
    assert at("spec", "flow", "a") == (15, 13, "b")
    # What is not there stands for what is.
    assert at("spec", "nope") == (2, 1, "spec")
    assert at("spec", "nope", key=True) == (2, 1, "spec")
    assert at("spec", "list", 7, "x") == (4, 3, "list")
    assert at("spec", "name", "x", 1) == (3, 9, "'it''s'")
    assert at("nope") == (2, 1, "spec:")
    assert document.raw(("spec", "name")) == "'it''s'"
    assert document.raw(("spec", "alias")) == "value"
    assert document.raw(("spec", "list")) is None
    assert document.raw(("spec", "nope")) is None


def test_places_through_aliases_and_merges():
    document = only("a: &a\n  b: &b {c: 1}\nd: *a\ne:\n  <<: [*a]\n  f: 2\ng:\n  <<: *b\n")
    for path, expected in {
        ("d",): (3, 4, "*a"),
        ("d", "b", "c"): (2, 13, "1"),
        ("e", "b", "c"): (2, 13, "1"),
        ("e", "b"): (2, 3, "b"),
        ("e", "f"): (6, 6, "2"),
        ("g", "c"): (2, 13, "1"),
        ("g", "x"): (7, 1, "g"),
    }.items():
        place = document.place(path)
        assert (place.line, place.column, marked(place)) == expected, path


def test_lines_end_as_editors_think():
    document = only('a: "x"\r\nb: 1\rc: "\\u2028"\nd: 2')
    assert document.data["c"] == "\u2028"
    place = document.place(("d",))
    assert (place.line, place.column, place.text) == (4, 4, "d: 2")
    assert document.place(("c",)).line == 3


JSON = '{\n\t"a": "\\ud83d\\ude00 \\/ \\\\ud83d",\n\t"b":\t[1, {"c": null}],\n\t"d": "\\u00e9"\n}\n'


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize("name", ["a.json", "A.JSON", "noending"])
def test_json(name):
    document = only(JSON, name)
    assert document.data == json.loads(JSON)
    place = document.place(("b", 1, "c"))
    assert (place.line, place.column, marked(place)) == (3, 17, "null")
    assert marked(document.place(("a",))) == '"\\ud83d\\ude00 \\/ \\\\ud83d"'


@pytest.mark.parametrize(
    "text, line, column, under, message",
    [
        ('{"a": 1\n "b": 2}', 2, 5, ":", 'a "," or "}" is missing before this'),
        ('{"a": 1}\n{"b": 2}\n', 2, 1, '{"b": 2}', "a second document begins here"),
        ('{"a": "\\ud83d"}', 1, 8, "\\ud83d", "write the character itself"),
        ('{"a": 1, "a": 2}', 1, 10, '"a"', 'key "a" is given twice, first on line 1'),
        ('{"a": 1e3}', 1, 7, "1e3", 'write 1000, or "1e3" in quotes'),
        ('[{"a": 1}]', 1, 1, '[{"a": 1}]', "must be a mapping"),
        ("{a: \\ud83d\\ude00}", 1, 5, "\\ud83d\\ude00", "write the character itself"),
        ("\t\t{,}", 1, 4, ",", "a value is missing"),
    ],
)
def test_broken_json(text, line, column, under, message):
    _, findings = read_text(text, "a.json")
    ((*where, _, said),) = told(findings)
    assert where == [line, column, under]
    assert message in said


@pytest.mark.usefixtures("parser")
def test_an_escaped_surrogate_pair_is_no_yaml():
    _, findings = read_text('a: "\\ud83d\\ude00"\n')
    assert [(f.place.line, f.rule.name) for f in findings] == [(1, "yaml-syntax")]
    assert "write the character itself" in findings[0].message


DEEP = {
    "brackets": lambda n: "[" * n,
    "closed brackets": lambda n: "a: " + "[" * n + "]" * n,
    "braces": lambda n: "{a: " * n,
    "dashes": lambda n: "- " * n,
    "questions": lambda n: "? " * n,
    "anchored": lambda n: "".join(f"&a{i} [" for i in range(n)),
    "lines": lambda n: "\n".join("[" for _ in range(n)),
    "blocks": lambda n: "".join(f"{' ' * i}a:\n" for i in range(n // 30)),
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_deep_nesting_is_refused_where_it_is_too_deep(text):
    assert growth(lambda: read_text(text(9_000)), lambda: read_text(text(90_000))) < 12
    documents, findings = read_text(text(90_000))
    assert documents == []
    ((line, column, _, rule, message),) = told(findings)
    assert rule == "nesting-too-deep"
    assert message == "nested more than 100 levels deep; reduce the nesting"
    assert (line, column) != (1, 1)


@pytest.mark.usefixtures("parser")
def test_a_hundred_collections_are_not_too_deep():
    nested = "x"
    for _ in range(99):
        nested = [nested]
    assert only(f"a: {'[' * 99}x{']' * 99}\n").data == {"a": nested}
    _, findings = read_text(f"a: 1\n---\na: {'[' * 100}x{']' * 100}\n---\nb: 1\n")
    assert told(findings) == [
        (3, 103, "[", "nesting-too-deep", "nested more than 100 levels deep; reduce the nesting")
    ]


def laughs(levels, width):
    return "l0: &l0 lol\n" + "".join(
        f"l{level}: &l{level} [{', '.join([f'*l{level - 1}'] * width)}]\n"
        for level in range(1, levels)
    )


@pytest.mark.parametrize(
    "text",
    [
        laughs(10, 10),
        f"a: &a {list(range(1_000))}\nb: [{'*a, ' * 5_000}]\n",
        "m0: &m0 {a: 1}\n"
        + "".join(f"m{i}: &m{i} {{<<: *m{i - 1}, k{i}: 1}}\n" for i in range(1, 5_000)),
    ],
    ids=["billion laughs", "wide", "merges"],
)
def test_an_alias_bomb_is_refused_before_it_blows_up(text):
    work, (_, findings) = counted(lambda: read_text(text))
    assert work < 30 * (100_000 + len(text))  # its nodes would be up to 10^9
    assert {finding.rule.name for finding in findings} <= {"alias-bomb", "nesting-too-deep"}
    assert findings


def test_the_billion_laughs_are_one_finding():
    (document,), findings = read_text("kind: Team\n" + laughs(10, 10))
    ((line, column, under, rule, message),) = told(findings)
    assert (line, column, under, rule) == (7, 25, "*l4", "alias-bomb")
    assert message == "aliases make this document much too large; write the values instead"
    assert document.data is None
    assert document.header.kind == "Team"


def test_depth_counts_through_aliases():
    chain = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 99))
    assert only(chain).data["a98"]
    _, findings = read_text(chain + "a99: &a99 [*a98]\na100: *a99\n")
    assert [(f.rule.name, f.place.line) for f in findings] == [("nesting-too-deep", 100)]


def test_many_uses_of_one_anchor_are_no_bomb():
    block = "".join(f"  k{i}: v\n" for i in range(20))
    text = f"d: &d\n{block}" + "".join(f"m{i}:\n  <<: *d\n  own: 1\n" for i in range(5_000))
    assert only(text).data["m4999"] == {"own": 1, **{f"k{i}": "v" for i in range(20)}}


CONFIG_MAP = """\
kind: ConfigMap
data:
  plain: "queues: [a, no]"
  folded: >
    queues: 1
  config.yaml: |

    queues:
    - name: high

      weight: 0777
    more: {a: 1, a: 2}
"""


def test_inner_documents_have_outer_places():
    outer = only(CONFIG_MAP)
    document, findings = inner(outer, ("data", "config.yaml"), index=7)
    assert document.index == 7
    assert document.source is outer.source
    assert document.data == {"queues": [{"name": "high", "weight": "0777"}], "more": {"a": 1}}
    assert [finding[:4] for finding in told(findings)] == [
        (11, 15, "0777", "yaml-surprise"),
        (12, 18, "a", "duplicate-key"),
    ]
    assert "first on line 12" in findings[1].message
    assert {finding.place.file for finding in findings} == {"a.yaml"}
    place = document.place(("queues", 0, "name"))
    assert (place.line, place.column, marked(place), place.text) == (
        *(9, 13, "high"),
        "    - name: high",
    )
    assert document.place(("queues", 0), key=True).line == 9
    assert document.line == 8


def test_inner_documents_of_other_styles_fall_back_to_the_scalar():
    outer = only(CONFIG_MAP)
    document, findings = inner(outer, ("data", "plain"), index=1)
    assert document.data == {"queues": ["a", "no"]}
    assert [finding[:3] for finding in told(findings)] == [(3, 10, '"queues: [a, no]"')]
    document, findings = inner(outer, ("data", "folded"), index=1)
    assert findings == []
    assert marked(document.place(("queues",))) == ">"


def test_inner_text_that_is_no_document():
    outer = only(
        'a: ""\nb: {c: d}\ne: "x: [" \nf: |\n  - 1\ng: |\n  x: 1\n  ---\n  w: 2\nh: |2\n   z: 1\n'
    )
    assert inner(outer, ("a",), index=1) == (None, [])
    assert inner(outer, ("b",), index=1) == (None, [])
    assert inner(outer, ("nope", 3), index=1) == (None, [])
    nothing, findings = inner(outer, ("e",), index=1)
    assert nothing is None
    assert [finding[:4] for finding in told(findings)] == [(3, 4, '"x: ["', "yaml-syntax")]
    nothing, findings = inner(outer, ("f",), index=1)
    assert nothing is None
    assert [finding[:4] for finding in told(findings)] == [(5, 3, "- 1", "not-a-mapping")]
    document, findings = inner(outer, ("g",), index=1)
    assert document.data == {"x": 1}
    assert [finding[:4] for finding in told(findings)] == [(9, 3, "w: 2", "several-documents")]
    document, _ = inner(outer, ("h",), index=1)
    assert marked(document.place(("z",))) == "1"


def test_inner_documents_within_inner_documents():
    middle, _ = inner(only("a: |\n  b: |\n    c: no\n"), ("a",), index=1)
    _, findings = inner(middle, ("b",), index=2)
    assert [finding[:4] for finding in told(findings)] == [(3, 8, "no", "yaml-surprise")]


def test_hits_are_dressed_in_the_order_of_the_text():
    one = load(Source("b.yaml", "x: no\ny: {z: 1}\n3: w\n", None), ours=everything)[0]
    two = load(Source("a.yaml", "x: 1\n", None), ours=everything, first_index=1)[0]
    documents = [*two, *one]
    hits = [
        Hit(rule("r"), "of nothing"),
        Hit(rule("r"), "m2", At(0, ("y", "z"))),
        Hit(rule("r", Severity.WARNING), "m1", At(0, ("y", "z"))),
        Hit(rule("r", Severity.WARNING), "m1", At(0, ("y", "z"))),
        Hit(rule("r"), "of a", At(1, ("x",)).on_key()),
        Hit(rule("r"), "no document", At(9)),
        Hit(rule("r"), "already refused", At(0, ("x",))),
        Hit(rule("r"), "its key is not", At(0, ("x",)).on_key()),
        Hit(rule("r"), "already refused", At(0, ("3",)).on_key()),
        Hit(rule("r"), "missing below", At(0, ("x", "more"))),
    ]
    findings = locate(documents, hits)
    assert [(f.message, f.place and (f.place.file, f.place.line)) for f in findings] == [
        ("no document", None),
        ("of nothing", None),
        ("of a", ("a.yaml", 1)),
        ("its key is not", ("b.yaml", 1)),
        ("missing below", ("b.yaml", 1)),
        ("m1", ("b.yaml", 2)),
        ("m2", ("b.yaml", 2)),
    ]
    assert findings[5].severity is Severity.WARNING


def test_findings_are_ordered_and_told_once():
    one, two = Finding(rule("r", Severity.ERROR), "a"), Finding(rule("r", Severity.ERROR), "b")
    assert ordered([two, one, two]) == [one, two]


def many_documents(count):
    return "".join(
        f"kind: Model\nmetadata:\n  name: m{i}\nspec:\n  team: t{i % 9}\n  cpu: {i}\n"
        f"  pools: [a, b]\n  limits:\n    memory: 16Gi\n---\n"
        for i in range(count)
    )


def test_the_work_of_many_documents_grows_no_faster_than_they_do():
    few, many = many_documents(300), many_documents(3_000)
    assert growth(lambda: read_text(few), lambda: read_text(many)) < 12
    documents, findings = read_text(many)
    assert (len(documents), findings) == (3_000, [])
    assert documents[-1].place(("spec", "cpu")).line == 29_996


def test_places_in_many_documents_are_not_sought_from_the_top():
    def places(count):
        documents, _ = read_text("a: b\n---\n" * count)
        return [it.place(("a",)).line for it in documents]

    assert growth(lambda: places(100), lambda: places(1_000)) < 12
    assert places(1_000) == list(range(1, 2_001, 2))


def test_many_places_in_one_long_list_are_not_sought_from_its_top():
    def places(count):
        document = only("a:\n" + "- b: c\n" * count)
        return [document.place(("a", i, "b")).line for i in range(count)]

    assert growth(lambda: places(200), lambda: places(2_000)) < 12
    assert places(2_000) == list(range(2, 2_002))


# Properties ---------------------------------------------------------------------------------


def trees(characters):
    """Mappings of anything plain that holds no surprise."""
    texts = st.text(characters, max_size=12).filter(
        lambda text: not isinstance(read(text), AmbiguousScalar)
    )
    floats = st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: "e" not in repr(x))
    integers = st.integers(-(10**20) + 1, 10**20 - 1)
    leaves = st.none() | st.booleans() | integers | floats | texts
    nested = st.recursive(
        leaves,
        lambda of: st.lists(of, max_size=4) | st.dictionaries(texts, of, max_size=4),
        max_leaves=12,
    )
    return st.dictionaries(texts, nested, min_size=1, max_size=5)


ANY = trees(st.characters(codec="utf-8"))
PRINTABLE = trees(
    st.characters(
        codec="utf-8", exclude_categories=["Cc", "Cn"], exclude_characters="\ufeff\u2028\u2029"
    )
)


def by_ruamel(data):
    writer = ruamel.yaml.YAML(typ="safe", pure=True)
    writer.default_flow_style = False
    out = io.StringIO()
    writer.dump(data, out)
    return out.getvalue()


DUMPS = {
    "pyyaml": (ANY, yaml.safe_dump),
    "pyyaml in braces": (ANY, lambda data: yaml.safe_dump(data, default_flow_style=True)),
    "pyyaml unicode": (
        PRINTABLE,
        lambda data: yaml.safe_dump(data, allow_unicode=True, width=30),
    ),
    "ruamel": (PRINTABLE, by_ruamel),
    "json": (ANY, json.dumps),
    "json indented": (
        PRINTABLE,
        lambda data: json.dumps(data, indent="\t", ensure_ascii=False),
    ),
}


def leaf_paths(data, path=()):
    if isinstance(data, dict | list):
        for step, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from leaf_paths(value, (*path, step))
    else:
        yield path, data


@pytest.mark.parametrize("some, dump", DUMPS.values(), ids=DUMPS)
@settings(max_examples=100, deadline=None)
@given(draw=st.data())
def test_what_others_write_is_read_back_equal(some, dump, draw):
    data = draw.draw(some)
    document = only(dump(data))
    assert document.data == data
    for path, value in leaf_paths(data):
        raw, place = document.raw(path), document.place(path)
        if raw and "\n" not in raw and raw[0] not in "\"'|>":
            assert marked(place) == raw
            assert read(raw) == value
        if raw and raw[0] == '"' and "\n" not in raw:
            assert marked(place) == raw


PIECES = (
    *"a[]{},:#~日'\"\t\n\r\\\x85\u2028\xa0\ufeff\x00\ud800",
    *(
        "b: ",
        "- ",
        "  ",
        "&x ",
        "*x",
        "<<: ",
        "? ",
        "!t ",
        "!!str ",
        "|\n",
        ">\n",
        "---\n",
        "...\n",
    ),
    *("%YAML 1.1\n", "no", "0777", "1e3", "\\ud83d\\ude00"),
)
noise = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


@settings(max_examples=600, deadline=None)
@given(text=noise | st.text(), name=st.sampled_from(["a.yaml", "a.json"]))
def test_no_text_crashes_it(text, name):
    documents, findings = read_text(text, name)
    for finding in findings:
        place = finding.place
        assert place.line >= 1
        assert place.column >= 1
        assert place.column - 1 + place.length <= len(place.text)
        assert "\n" not in finding.message
    for document in documents:
        for path, _ in leaf_paths(document.data):
            assert document.place(path).line >= document.line or "*" in text
            inner(document, path, index=0)
        json.dumps(document.data).encode()


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60))
def test_no_bytes_crash_it(data):
    try:
        text = decode(data)
    except NotTextError:
        return
    read_text(text)


# Streams whose documents begin and end in every way.
STREAMS = {
    "bare": "a: 1\nb: [x, {c: 'd'}]\n",
    "comments around": "# one\n\na: 1 # two\n# three\n---\n# four\nb:\n- 2\n# five\n",
    "ends": "a: 1\n...\n---\nb: 2\n...\n# left\n---\nc: 3",
    "directives": "%YAML 1.1\n---\na: 1\n...\n%YAML 1.1\n---\nb: 2\n",
    "one line": "--- {a: 1}\n--- [b]\n--- 'c'\n---\n---\nd: ~\n",
    "block text": "a: |\n  x\n\n  y\nb: >-\n  z\n  z\n--- |\n text\n",
    "wide characters": "ä: 'ö\U0001f600'\n---\n\U0001f600: {ü: é}\n",
    "line ends": "a: 1\r\nb:\r\n- c\r\n---\r\nd: 2\r\n",
    "json": '\t{"a": [1, 2.5, null],\n\t"b": {"c": "\\u00e9"}}\n',
    "some unusual": "a: &x 1\nb: *x\n---\nc: 2\n---\nd: yes\n---\ne: !!str 3\n---\nf: 4\n",
    "twice": "a: 1\na: 2\n---\nb: 3\n---\n1: c\n---\n? [x]\n: y\n---\nd: 4\n",
    "merged": "a: &a {b: 1}\nc: {<<: *a}\n---\nd: 1\n",
    "broken behind": "a: 1\n---\nb: [\n---\nc: 2\n",
    "deep": "a: 1\n---\n" + "[" * 99 + "]" * 99 + "\n---\n" + "[" * 101 + "]" * 101 + "\n",
}


def spans(it, path, data, text):
    """Every path of a document, and where its value and its key stand."""
    step, length = it.outline.find(path)
    key = None if step.key is None else it.outline.span(step.key, text)
    yield path, length, it.outline.span(step.node, text), key, it.outline.shape[step.node]
    inner = data.items() if isinstance(data, dict) else ()
    for name, value in enumerate(data) if isinstance(data, list) else inner:
        yield from spans(it, (*path, name), value, text)


def outlined(text, json, *, kubernetes=False):
    """All that a stream is read to, places included."""
    found = []
    for it in composing.compose(text, json=json, line=lambda at: at, kubernetes=kubernetes):
        places = it.outline
        found.append((it.data, it.syntax, it.content, it.flawed, it.parsed, it.bombed))
        if json and kubernetes and places.shape and not it.flawed:
            found.append(list(spans(it, (), it.data, text)))
            continue  # those of JSON are numbered as they are met
        found.append((places.start, places.end, places.after, places.shape, places.key))
        found.append((places.target, places.merge))
    return found


def parsed_in_full(text, json, *, kubernetes=False):
    """The same without the fast paths."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(fast_yaml, "read", lambda *_: documents_parsed.UNUSUAL)
        patched.setattr(fast_json, "read", lambda _: documents_parsed.UNUSUAL)
        return outlined(text, json, kubernetes=kubernetes)


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize("name", STREAMS)
def test_the_fast_path_reads_what_the_full_parse_does(name):
    text = STREAMS[name]
    fast = outlined(text, name == "json")
    assert parsed_in_full(text, name == "json") == fast
    assert fast


ROOT = Path(__file__).parents[2]
REAL = [path.read_text("utf-8") for path in sorted((ROOT / "examples").rglob("*.yaml"))]
REAL += [json.dumps(it, indent=1) for text in REAL for it in yaml.safe_load_all(text)]
EDITS = (
    *("yes", "no ", "? ", ": ", "- ", "&a ", "*a ", "<<: *a\n", "!!str ", "'", '"', "[", "]", "{"),
    *("}", ", ", "|\n", "|2\n", ">\n", "# x", "\t", " ", "\n", "\r", "1e3", "0644", "~", "---\n"),
    *("...\n", "%", "@", "`", "\\ud83d\\ude00", "\\ud83d", "1: ", "true: ", "é", "\U0001f600"),
    *("\x85", "\x1b", "\ufeff", "\n---", "1" * 30, ".inf", "%YAML 1.1\n---\n", "\ufffd", "\xa0"),
)


@st.composite
def edited(draw):
    """A part of a real text, changed in some places."""
    lines = draw(st.sampled_from(REAL)).splitlines(keepends=True)
    begin = draw(st.integers(0, len(lines) - 1))
    text = "".join(lines[begin : begin + draw(st.integers(1, 12))])
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.sampled_from(EDITS)) + text[at + draw(st.integers(0, 3)) :]
    return text


@settings(max_examples=300, deadline=None)
@given(
    text=edited() | noise,
    loader=st.sampled_from(["CSafeLoader", "SafeLoader"]),
    json=st.booleans(),
    kubernetes=st.booleans(),
)
def test_the_fast_path_reads_any_text_as_the_full_parse_does(text, loader, json, kubernetes):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(yaml_stream, "_LOADER", getattr(yaml, loader))
        fast = outlined(text, json, kubernetes=kubernetes)
        assert parsed_in_full(text, json, kubernetes=kubernetes) == fast


def test_usual_documents_take_the_fast_path():
    texts = [STREAMS[name] for name in ("bare", "comments around", "block text", "json")]
    found = [it for text in texts for it in composing.compose(text, json=text[0] == "\t", line=int)]
    assert len(found) == 6
    assert all(it.make_outline is not Outline for it in found)


USUAL = ("a100", "team-1.x", "46", "a.yaml", "1.50", "null", "0x1F", "No", "18446744073709551616")
UNUSUAL = (
    *("yes", "0644", "1e3", "1_000", "12:30", '"46"', "'46'", "2026-01-31", ".inf", "~", "", "-1"),
    *('"a b"', "a  # b", "&x a", "*x", "|", "!!str 1", "9007199254740993"),
)
LIKE_MANIFESTS = (
    "kind: Queue\nspec:\n  quota: 4\n  flavors:\n  - a100\n  - name: cpu\n",
    "# Source: chart/a.yaml\nkind: Queue  # or: other\nmetadata: {name: x}\n100%: 5\n",
    "a: |\n  b: c\n  - d\ne: >-\n  f: g\nh: one two\n  three: four\n",
    'a: "b: c\n  d: e\n  f"\ng: i\n',
    "a: [\n  b: c\n  , d - e\n  ]\n? f\n: g\n? - h\n: i\n",
    "a: &x b\nc: *x\n<<: {d: e}\nf: g\n",
    "k: v\nk: w\n",
    "- a\n- b: c\n",
    "a: b\n  c: d\n",
    "a: 'b\nc: d\n",
    "yes: b\n? x: y\n: z\n",
)


@st.composite
def repeated(draw):
    """A stream in which documents come again and again with other words at the ends of lines."""
    bases = draw(st.lists(st.sampled_from(LIKE_MANIFESTS) | edited(), min_size=1, max_size=3))
    documents = []
    for _ in range(draw(st.integers(4, 20))):
        words = draw(st.sampled_from([USUAL, USUAL, USUAL, USUAL + UNUSUAL]))
        lines = draw(st.sampled_from(bases)).split("\n")
        for index, line in enumerate(lines):
            before, space, last = line.rpartition(" ")
            if space and last.isalnum() and draw(st.booleans()):
                lines[index] = f"{before} {draw(st.sampled_from(words))}"
        documents.append("\n".join(lines))
    start = draw(st.sampled_from(["", "---\n", "# top\n---\n"]))
    return start + draw(st.sampled_from(["---\n", "--- \n", "\n---\n"])).join(documents)


@settings(max_examples=400, deadline=None)
@given(text=repeated(), kubernetes=st.booleans())
def test_streams_are_read_fast_as_in_full(text, kubernetes):
    full = parsed_in_full(text, json=False, kubernetes=kubernetes)
    found = outlined(text, json=False, kubernetes=kubernetes)
    assert found == full
    assert repr(found) == repr(full)  # 1, 1.0 and True are not the same
