"""Helpers for tests of documents: they read a text, and show its findings."""

from hypothesis import strategies as st

from policygen.documents.document import load, with_faults
from policygen.documents.files import Source


def read_text(text, name="a.yaml"):
    documents, findings = load(Source(name, text, None))
    return documents, with_faults(documents, findings)


def marked(place):
    """The text that a position covers."""
    return place.text[place.column - 1 : place.column - 1 + place.length]


def summaries(findings):
    return [
        (f.place.line, f.place.column, marked(f.place), f.rule.name, f.message) for f in findings
    ]


def only(text, name="a.yaml"):
    documents, findings = read_text(text, name)
    assert summaries(findings) == []
    (document,) = documents
    return document


def leaf_paths(data, path=()):
    if isinstance(data, dict | list):
        for step, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from leaf_paths(value, (*path, step))
    else:
        yield path, data


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
