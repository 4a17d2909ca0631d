"""Lines that are read by themselves have the same data and places as from the YAML parser."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from policygen.documents import yaml_lines
from policygen.documents.parsed import MAX_DEPTH
from tests.documents.test_fast_yaml import outlined, parsed_in_full

ROOT = Path(__file__).parents[2]
EXAMPLES = [
    path
    for path in sorted((ROOT / "examples").rglob("*.yaml"))
    # Long PromQL and CEL are in folded scalars.
    if path.parent.name != "monitoring" and "AdmissionPolicy" not in path.read_text("utf-8")
]

USUAL = {
    "comments": "# one\n\n  # two\n",
    "markers": "# one\n--- # two\na: 1\n---\n---   \n# three\n---\nb: 2\n",
    "mappings": "a:\n  b:\n    c: 1\n  d: 2\ne:\nf:\n g: 3\n",
    "lists": "a:\n- 1\n- b: 2\n  c:\n  - 3\n  d: 4\n-   e: 5\n    f:\n      - 6\ng: 7\n",
    "root": "  - a: 1\n    b: 2\n  - c\n",
    "plain": "a: b c  # d\ne: http://f:80/g?h=[i],{j}&k\nl: -m\nm:\n- --o=p:q\n- -r\n",
    "numbers": "a: 0644\nb: 1_000\nc: -1.5e3\nd: yes\ne: ~\nf: .5\ng: 0x1F\nh: null\ni: 1.0\n",
    "quotes": "a: 'b: c'\n'yes': \"d # e\"\n\"f\": ''\ng:\n- '#'\n- \"é\"\n",
    "flow": "a: {b: 1, 'c': [yes, d e, -f, 'g, h'], i : {}}  # j\nk:\n- [[], 0644, '']\nl: {'m':n}\n",
    "blocks": "a: |\n  b: c\n\n    d\t#\n  - e\n   \n\nf:\n- |-\n   g\n\n- h: |\n    i\nj: k\n",
    "block at the end": "a:\n  b: |\n     c\n\n\n---\nd: |-\n e\n   \n \n",
}
"""Texts without a line that needs a YAML parser."""

UNUSUAL = (
    *("a: &b c\n", "a: *b\n", "a: !!str 1\n", "a: 1\na: 2\n", "a: {b: 1, b: 2}\n", "? a\n: b\n"),
    *("a: b: c\n", "a: b:\n", "a: b\n c: d\n", "a: b\n  c\n", "a: 'b\n  c'\n", "a:\n\tb: 1\n"),
    *("a: |\nb: 1\n", "a: |2\n   b\n", "a: >\n  b\n", "a: |\n\n  b\n", "a: b", "a: |\n  b"),
    *("a:\n  b: |\n c\n", "a: |\n   b\n  c\n", "a: [b\n]\n", "a: [b, ]\n", "a: [b: c]\n"),
    *("a: {b}\n", "a: {1: b}\n", "a: [b c: d]\n", "a: [b]c\n", "a: [b:c]\n", "a: [*b]\n"),
    *("1: a\n", "yes: a\n", "<<: a\n", "a: .inf\n", "a: <<\n", "a: [.nan]\n", "a: '''b'''\n"),
    *('a: "b\\n"\n', "a: 1\r\n", "--- a\n", "a: 1\n...\n", "%YAML 1.1\n---\na: 1\n", "a\n"),
    *("- - a\n", "-\n  a: 1\n", "- # a\n  b\n", "a:\n - b\n - c\n- d\n", "a:\n  - b\n - c\n"),
    *("a: b\n- c\n", "- a\nb: c\n", "a:\n  b:\n- c\n", " a: 1\nb: 2\n", "a: %b\n", "a: @b\n"),
    *(f"{'a' * 1100}: 1\n", f"a: {'[' * 99}{']' * 99}\n", "a: b #c: d\n- e\n", "a: {{ .b }}\n"),
    *("{{- if a }}\nb: c\n", "a:#b\n", "a : b\n", "a: b\n---c\n", "a: ,b\n", "a: -\n"),
    *("a: - b\n", "'a'\n", "a: [1.5e+3]\n", "a: {b: 1e+010}\n", "a: [b'c']\n", "a: [NaN+]\n"),
    "".join(f"{' ' * depth}a:\n" for depth in range(MAX_DEPTH + 1)),
)
"""Texts that need one."""

EDITS = (
    *("a: ", "b: 1\n", "- ", "  ", "\n", " ", "# c", " # d\n", "'", '"', "''", "|\n", "|-\n"),
    *("[", "]", "{", "}", ", ", ": ", ":", "---\n", "--- # e\n", "-", "\n  - ", "\n- f: ", "~"),
    *("0644", "1_0", "&", "*", "!", "%", "@", "`", ">", ">-\n", "?", "? ", "...\n", "\\", "\\n"),
    *("=", "<<: ", "<", ".inf", ".5", "e+1", "(", "^", ";", "$", "é", "\xa0", "\r", "a b: ", "\t"),
)


def read(text):
    return yaml_lines.documents(text)


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize("name", USUAL)
def test_usual_lines_are_read_as_in_full(name):
    text = USUAL[name]
    assert read(text) is not None
    full = parsed_in_full(text, json=False, kubernetes=True)
    assert repr(outlined(text, json=False, kubernetes=True)) == repr(full)


@pytest.mark.parametrize("text", UNUSUAL)
def test_unusual_lines_need_the_parser(text):
    assert read(text) is None


def test_the_examples_need_no_parser():
    texts = [path.read_text("utf-8") for path in EXAMPLES]
    assert texts
    assert all(read(text) is not None for text in texts)


def test_a_full_cache_of_scalars_changes_nothing(monkeypatch):
    found = read("---\n".join(USUAL.values()))
    monkeypatch.setattr(yaml_lines, "_MAX_CACHED", 1)
    assert read("---\n".join(USUAL.values())) == found
    assert found is not None


@st.composite
def edited(draw):
    """A usual text with some changes."""
    text = "---\n".join(draw(st.lists(st.sampled_from([*USUAL.values()]), min_size=1, max_size=2)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.sampled_from(EDITS)) + text[at + draw(st.integers(0, 3)) :]
    return text


@settings(max_examples=500, deadline=None)
@given(text=edited() | st.lists(st.sampled_from(EDITS), max_size=12).map("".join))
def test_any_text_is_read_as_in_full(text):
    if (found := read(text)) is None:
        return
    events = list(yaml.parse(text, Loader=yaml.CSafeLoader))  # no error
    assert len(found) == sum(isinstance(it, yaml.DocumentStartEvent) for it in events)
    full = parsed_in_full(text, json=False, kubernetes=True)
    assert repr(outlined(text, json=False, kubernetes=True)) == repr(full)
