"""Files that are read in two processes have the same documents and places."""

from unittest.mock import patch

from policygen.documents import read_ahead
from policygen.documents.document import load
from policygen.documents.files import Source
from tests.own_process import in_own_process

TEXTS = {
    "usual.yaml": "# first\n---\na: [1, 0644, yes, 1.5]\nb:\n  c: |\n    x\n\n---\n---\n  d: ''\n",
    "flow.yaml": "a: 1\n---\n  b:\n  - c: 'd'\n    e: \"f\\n\"\n...\n",
    "long.yaml": f"a: {1 << 70}\nb: {(1 << 64) - 1}\nc: 1e30\n",
    "anchor.yaml": "a: &x 1\nb: *x\n",
    "twice.yaml": "a: 1\n---\na: 1\na: 2\n",
    "invalid.yaml": "a: 1\n---\nb: [\n",
    "list.yaml": "- a\n",
    "character.yaml": "a: \x85b\n",
    "escape.yaml": 'a: "\\ud83d\\ude00"\n',
    "empty.yaml": "",
    "object.yaml": '{"a": 1}',
    "object.json": '{"a": 1}',
}
SOURCES = [Source(name, text, None) for name, text in TEXTS.items()]
AHEAD = ("usual.yaml", "flow.yaml", "list.yaml", "empty.yaml", "object.yaml", "object.json")
"""Those that need no full parse."""


def loaded(source, fast=None):
    documents, findings = load(source, first_index=3, kubernetes=True, fast=fast)
    return [
        (it.index, it.header, it.data, it.place(("a",)), it.place(("b", 0, "e")), it.faults)
        for it in documents
    ], findings


def compared(found):
    """Check the documents of all sources, of which some were read ahead."""
    by_name = dict(zip(TEXTS, found, strict=True))
    assert {name for name, fast in by_name.items() if fast is not None} >= set(AHEAD)
    for source in SOURCES:
        assert loaded(source, by_name[source.name]) == loaded(source)


@in_own_process
def test_documents_from_two_processes_are_the_same():
    with patch.object(read_ahead, "MANY", 0):
        for _ in range(5):  # which process reads which file differs
            with read_ahead.begun(SOURCES) as documents:
                compared(documents())


def test_documents_that_were_passed_on_are_the_same():
    compared(read_ahead.loaded(read_ahead.dumped(read_ahead.found(it))) for it in SOURCES)


def test_few_files_are_not_read_ahead():
    with read_ahead.begun(SOURCES) as documents:
        assert documents() == [None] * len(SOURCES)
