"""A document: its header, the positions of its parts, and documents inside it."""

import pytest

from policygen.documents.document import Header, inner, load
from policygen.documents.files import Source
from tests.counting import growth
from tests.documents.reading import marked, only, read_text, summaries


def test_headers_and_faults_of_each_document():
    text = (
        "kind: Pod\napiVersion: v1\nmetadata: {name: x, 1: y}\non: no\non: 0777\n---\n"
        "apiVersion: policygen.dev/v1alpha1\nkind: Team\nmetadata:\n  name: 007\n---\n"
        "a: *b\nkind: [x]\n"
    )
    documents, findings = load(Source("a", text, None), first_index=5)
    assert [(d.index, d.header) for d in documents] == [
        (5, Header("v1", "Pod", "x")),
        (6, Header("policygen.dev/v1alpha1", "Team", "007")),
        (7, Header(None, None, None)),
    ]
    assert [(f.place.line, f.rule.name) for f in findings] == [(12, "yaml-syntax")]
    assert [{f.place.line for f in d.faults} for d in documents] == [{3, 4, 5}, {10}, set()]


def test_numbers_in_a_header_are_taken_as_written():
    (document,), _ = load(Source("a", "metadata: {name: 1.30}\n", None))
    assert document.header.name == "1.30"


@pytest.mark.parametrize(
    "text, words",
    [
        ("- {op: add, path: /spec}\n", "this is a JSON patch and not an object"),
        ("- {op: add, path: /spec}\n- {}\n", "must be a mapping"),
        ("[]\n", "must be a mapping"),
    ],
)
def test_a_list_that_patches_an_object_is_named(text, words):
    documents, (finding,) = load(Source("a", text, None))
    assert documents == []
    assert words in finding.message


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
    # A missing field has the position of its nearest existing parent.
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
    assert [finding[:4] for finding in summaries(findings)] == [
        (11, 15, "0777", "ambiguous-yaml-value"),
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
    assert [finding[:3] for finding in summaries(findings)] == [(3, 10, '"queues: [a, no]"')]
    document, findings = inner(outer, ("data", "folded"), index=1)
    assert findings == []
    assert marked(document.place(("queues",))) == ">"


def test_inner_text_that_is_not_a_document():
    outer = only(
        'a: ""\nb: {c: d}\ne: "x: [" \nf: |\n  - 1\ng: |\n  x: 1\n  ---\n  w: 2\nh: |2\n   z: 1\n'
    )
    assert inner(outer, ("a",), index=1) == (None, [])
    assert inner(outer, ("b",), index=1) == (None, [])
    assert inner(outer, ("nope", 3), index=1) == (None, [])
    nothing, findings = inner(outer, ("e",), index=1)
    assert nothing is None
    assert [finding[:4] for finding in summaries(findings)] == [(3, 4, '"x: ["', "yaml-syntax")]
    nothing, findings = inner(outer, ("f",), index=1)
    assert nothing is None
    assert [finding[:4] for finding in summaries(findings)] == [(5, 3, "- 1", "not-a-mapping")]
    document, findings = inner(outer, ("g",), index=1)
    assert document.data == {"x": 1}
    assert [finding[:4] for finding in summaries(findings)] == [(9, 3, "w: 2", "several-documents")]
    document, _ = inner(outer, ("h",), index=1)
    assert marked(document.place(("z",))) == "1"


def test_inner_documents_within_inner_documents():
    middle, _ = inner(only("a: |\n  b: |\n    c: no\n"), ("a",), index=1)
    _, findings = inner(middle, ("b",), index=2)
    assert [finding[:4] for finding in summaries(findings)] == [
        (3, 8, "no", "ambiguous-yaml-value")
    ]


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
