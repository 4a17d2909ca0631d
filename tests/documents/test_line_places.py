"""Places that are found by lines are those of the outline of the complete document."""

import pytest
from hypothesis import given, settings

from policygen.documents import line_places
from policygen.documents.document import load
from policygen.documents.files import Source
from tests.documents.test_yaml_lines import EXAMPLES, USUAL, edited


def paths(data, path=()):
    yield path
    if isinstance(data, dict):
        for key, value in data.items():
            yield from paths(value, (*path, key))
        yield (*path, "missing")
    elif isinstance(data, list):
        for i, value in enumerate(data):
            yield from paths(value, (*path, i))
        yield (*path, len(data))


def compared(text):
    """Compare all places of a text; returns the number of documents that were read by lines."""
    documents, _ = load(Source("a.yaml", text, None), kubernetes=True)
    found = [(it, places) for it in documents if (places := it.composed.make_places())]
    for document, places in found:
        for path in paths(document.data):
            for key in (False, True):
                document.composed._places = places  # noqa: SLF001 - to compare both
                fast = document.span(path, key=key), document.raw(path)
                document.composed._places = document.outline  # noqa: SLF001 - likewise
                assert fast == (document.span(path, key=key), document.raw(path)), (path, key)
    return len(found)


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize("name", USUAL)
def test_places_in_usual_lines(name):
    assert compared(USUAL[name]) or name in {"comments", "root"}


def test_places_in_the_examples():
    for path in EXAMPLES:
        assert compared(path.read_text("utf-8")), path


@settings(max_examples=300, deadline=None)
@given(text=edited())
def test_places_in_any_text(text):
    compared(text)


def test_a_text_without_content_has_no_places():
    assert line_places.places("# a\n", 0, 4) is None
