"""Each item becomes one document by its template."""

import pytest

from policygen.render.engine import render
from tests.render.templates import SOUND, queue


def test_each_item_becomes_one_document(template):
    template(SOUND)
    items = [queue("a", {"x": "on"}), queue("b", note="1e3")]
    manifests = render(items)
    assert [manifest.item for manifest in manifests] == items
    assert manifests[0].text == (
        "---\napiVersion: x.dev/v1\nkind: Queue\nmetadata:\n  name: a\n  labels:\n"
        '    x: "on"\ngpus: 8\n'
    )
    assert manifests[1].text == (
        "---\napiVersion: x.dev/v1\nkind: Queue\nmetadata:\n  name: b\n  labels: {}\n"
        'note: "1e3"\ngpus: 8\n'
    )
    assert render(items) == manifests


@pytest.mark.parametrize(
    "text", ["a: 1", "a: 1\n", "\n\na: 1  \n\n\n", "{{ block({'a': 1}, 0) }}\n"]
)
def test_a_document_begins_with_its_marker_and_ends_with_one_newline(template, text):
    template(text)
    assert render([queue()])[0].text == "---\na: 1\n"
