"""A file gets its complete new text, or is not changed."""

import os
import stat

import pytest

from policygen.core.errors import UsageError
from policygen.documents.edit.overwrite import overwrite
from policygen.documents.files import Source


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "it.yaml"
    path.write_bytes(b"a: 1\r\n")
    return path


def source(path, text="a: 1\r\n"):
    return Source(str(path), text, path)


def test_bytes_and_mode_are_kept(file):
    file.chmod(0o640)
    overwrite([(source(file), "é: 2\r\n")])
    assert file.read_bytes() == "é: 2\r\n".encode()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert [each.name for each in file.parent.iterdir()] == ["it.yaml"]


def test_a_link_stays_a_link(file, tmp_path):
    link = tmp_path / "link.yaml"
    link.symlink_to(file)
    overwrite([(source(link), "a: 2\n")])
    assert link.is_symlink()
    assert file.read_text() == "a: 2\n"


def read_only(path):
    path.chmod(0o444)


def changed(path):
    path.write_text("a: 3\n")


def gone(path):
    path.unlink()


def named_twice(path):
    os.link(path, path.with_name("other"))


def a_pipe(path):
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    "happens, message",
    [
        (read_only, "is read-only"),
        (changed, "changed during this run"),
        (gone, "cannot be written: No such file"),
        (named_twice, "has a second name"),
        (a_pipe, "is not a regular file"),
    ],
)
def test_one_that_must_not_be_written_keeps_all_as_they_are(happens, message, file, tmp_path):
    first = tmp_path / "first.yaml"
    first.write_text("a: 1\n")
    happens(file)
    with pytest.raises(UsageError, match=message):
        overwrite([(source(first, "a: 1\n"), "a: 2\n"), (source(file), "a: 2\n")])
    assert first.read_text() == "a: 1\n"
    assert not list(tmp_path.glob(".*"))


def test_standard_input_cannot_be_written():
    with pytest.raises(UsageError, match="--write cannot change standard input"):
        overwrite([(Source("<stdin>", "a: 1\n", None), "a: 2\n")])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_reported(file):
    file.parent.chmod(0o555)
    with pytest.raises(UsageError, match="Permission denied"):
        overwrite([(source(file), "a: 2\n")])
    file.parent.chmod(0o755)
