"""The fast paths read YAML like the full parser."""

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from policygen.documents import fast_json, fast_yaml, yaml_lines, yaml_stream
from policygen.documents import parse as composing
from policygen.documents import parsed as documents_parsed
from policygen.documents.outline import Outline
from tests.documents.reading import noise

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
    """Every path of a document, with the positions of its value and its key."""
    step, length = it.outline.find(path)
    key = None if step.key is None else it.outline.span(step.key, text)
    yield path, length, it.outline.span(step.node, text), key, it.outline.shape[step.node]
    inner = data.items() if isinstance(data, dict) else ()
    for name, value in enumerate(data) if isinstance(data, list) else inner:
        yield from spans(it, (*path, name), value, text)


def outlined(text, json, *, kubernetes=False):
    """Everything that is read of a stream, including positions."""
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
        patched.setattr(yaml_lines, "documents", lambda *_: None)
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
    """A part of a real text with a few random changes."""
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
    """A stream of similar documents that differ in the last words of their lines."""
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
