"""Text of other YAML writers is read back equal, and no text crashes the parser."""

import io
import json

import pytest
import ruamel.yaml
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from policygen.documents.document import inner
from policygen.documents.parse import mapping
from policygen.documents.scalars import AmbiguousScalar, read
from tests.documents.reading import leaf_paths, marked, noise, only, read_text

JSON = '{\n\t"a": "\\ud83d\\ude00 \\/ \\\\ud83d",\n\t"b":\t[1, {"c": null}],\n\t"d": "\\u00e9"\n}\n'


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize("name", ["a.json", "A.JSON", "noending"])
def test_json(name):
    document = only(JSON, name)
    assert document.data == json.loads(JSON)
    place = document.place(("b", 1, "c"))
    assert (place.line, place.column, marked(place)) == (3, 17, "null")
    assert marked(document.place(("a",))) == '"\\ud83d\\ude00 \\/ \\\\ud83d"'


def trees(characters):
    """Mappings of plain values that are not ambiguous."""
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


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("a: 1\nb: [yes]\n", {"a": 1, "b": [True]}),
        ('{"a": 1}', {"a": 1}),
        ("", None),
        ("- a\n", None),
        ("a: 1\n---\nb: 2\n", None),
        ("a: [\n", None),
        ("a: 1\na: 2\n", None),
        ("a: \x1b\n", None),
    ],
)
def test_the_mapping_in_a_text(text, data):
    assert mapping(text) == data
