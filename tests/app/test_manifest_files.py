"""Files of manifests are the same, whether a second process reads them ahead or not."""

from io import BytesIO
from unittest.mock import patch

from policygen.app import manifest_files
from policygen.documents import read_ahead
from tests.own_process import in_own_process


def test_standard_input_and_paths_that_cannot_be_read(tmp_path):
    missing = str(tmp_path / "missing")
    with manifest_files.opened(["-", missing], BytesIO(b"a: 1\n")) as found:
        assert [it.text for it in found.sources] == ["a: 1\n"]
        assert [it.place.file for it in found.unreadable] == [missing]
        assert found.documents() == [None]


@in_own_process
def test_documents_are_read_ahead():
    with (
        patch.object(read_ahead, "MANY", 0),
        manifest_files.opened(["-"], BytesIO(b"a: 1\n")) as found,
    ):
        (documents,) = found.documents()
        assert [it.data for it in documents] == [{"a": 1}]
