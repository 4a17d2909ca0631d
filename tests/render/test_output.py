"""Output to one file, the names of files, and what a render would change."""

import os
import subprocess
import textwrap
from pathlib import Path

import pytest

from policygen.core import atomic
from policygen.render import output
from policygen.render.folder import INDEX
from policygen.render.output import check, write_file, write_folder
from tests.render.items import NEW, OLD, expected, files, manifest, refusal

MADE_BY = "# app.kubernetes.io/managed-by: policygen\n"


def test_text_is_all_documents():
    assert output.text(OLD[:2]) == OLD[0].text + OLD[1].text


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    path = tmp_path / "out"
    path.write_text("mine")
    assert f"{path} is a file" in refusal(write_folder, OLD, path)
    assert "cannot be written: Not a directory" in refusal(write_folder, OLD, path / "below")
    assert path.read_text() == "mine"


def test_one_file_is_replaced_completely(tmp_path, monkeypatch):
    path = tmp_path / "all.yaml"
    write_file(OLD, path)
    assert path.read_text() == output.text(OLD)
    path.chmod(0o600)
    os.utime(path, (1, 1))
    write_file(OLD, path)
    assert path.stat().st_mtime == 1
    assert "was not written by policygen" in refusal(write_file, NEW, path)
    path.write_text(MADE_BY)
    write_file(NEW, path)
    assert path.read_text() == output.text(NEW)
    path.write_text(MADE_BY)
    assert path.stat().st_mode & 0o777 == 0o600

    def failing(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "replace", failing)
    assert refusal(write_file, OLD, path) == f"{path} cannot be written: Input/output error"
    assert path.read_text() == MADE_BY
    assert [each.name for each in tmp_path.iterdir()] == ["all.yaml"]


def test_a_link_to_a_file_stays_a_link(tmp_path):
    (tmp_path / "link.yaml").symlink_to("real.yaml")
    write_file(OLD, tmp_path / "link.yaml")
    assert (tmp_path / "link.yaml").is_symlink()
    assert (tmp_path / "real.yaml").read_text() == output.text(OLD)


def test_a_pipe_is_written_into_and_not_replaced(tmp_path):
    path = tmp_path / "pipe.yaml"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_file(OLD, path)
        assert os.read(reader, 1 << 16).decode() == output.text(OLD)
    finally:
        os.close(reader)
    assert path.is_fifo()


def test_what_cannot_be_one_file_is_refused(tmp_path):
    assert f"{tmp_path} is a folder" in refusal(write_file, OLD, tmp_path)
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    assert "cannot be written" in refusal(write_file, OLD, tmp_path / "loop.yaml")


def test_the_folder_of_one_file_is_made_as_that_of_many_is(tmp_path, monkeypatch):
    write_file(OLD, tmp_path / "new" / "er" / "all.yaml")
    write_folder(OLD, tmp_path / "new" / "est" / "out")
    assert (tmp_path / "new" / "er" / "all.yaml").read_text() == output.text(OLD)
    assert (tmp_path / "new" / "est" / "out" / INDEX).exists()
    monkeypatch.chdir(tmp_path)
    write_file(OLD, Path("relative") / "all.yaml")
    write_folder(OLD, Path("relative") / "out")
    assert len(list(Path("relative").iterdir())) == 2


@pytest.mark.parametrize("module, name", [(os, "replace"), (atomic, "stage")])
def test_folders_made_for_nothing_go_again(tmp_path, monkeypatch, module, name):
    def failing(*_, **__):
        raise OSError(28, "No space left on device")

    kept = tmp_path / "kept"
    kept.mkdir()
    with monkeypatch.context() as patched:
        patched.setattr(module, name, failing)
        for write, below in ((write_file, "x.yaml"), (write_folder, "out")):
            target = kept / "new" / "er" / below
            said = refusal(write, OLD, target)
            assert "No space left on device" in said
    assert list(tmp_path.iterdir()) == [kept]
    assert list(kept.iterdir()) == []


def test_a_file_where_a_folder_should_be_made_is_refused(tmp_path):
    path = tmp_path / "file"
    path.write_text("mine")
    for write, below in (
        *((write_file, "x.yaml"), (write_file, "y/x.yaml")),
        *((write_folder, "x"), (write_folder, "y/x")),
    ):
        said = refusal(write, OLD, path / below)
        assert said == f"{path / below} cannot be written: Not a directory"
    assert path.read_text() == "mine"


def test_a_folder_that_is_as_rendered_has_no_difference(tmp_path):
    write_folder(OLD, tmp_path)
    (tmp_path / "mine.yaml").write_text("mine")
    before = sorted(path.name for path in tmp_path.iterdir())
    assert check(OLD, tmp_path) == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_differences_of_a_folder_are_one_diff(tmp_path):
    write_folder(OLD, tmp_path)
    (tmp_path / "queue.c.yaml").write_bytes(b"---\nname: c\x1b[31m\xff\na: 1")
    assert check([NEW[0], manifest("b", "a: 2"), OLD[2], NEW[3]], tmp_path) == textwrap.dedent("""\
        --- a/queue.b.yaml
        +++ b/queue.b.yaml
        @@ -1,3 +1,3 @@
         ---
         name: b
        -a: 1
        +a: 2
        --- a/queue.c.yaml
        +++ b/queue.c.yaml
        @@ -1,3 +1,3 @@
         ---
        -name: c\\x1b[31m\\xff
        -a: 1
        \\ No newline at end of file
        +name: c
        +a: 1
        --- /dev/null
        +++ b/queue.d.yaml
        @@ -0,0 +1,3 @@
        +---
        +name: d
        +a: 2
        --- a/queue.gone.yaml
        +++ /dev/null
        @@ -1,3 +0,0 @@
        ----
        -name: gone
        -a: 1
        """)


def test_the_diff_of_a_folder_is_a_patch_that_makes_it_right(tmp_path):
    write_folder(OLD, tmp_path)
    patch = check(NEW, tmp_path)
    subprocess.run(["git", "apply", "-"], input=patch, text=True, cwd=tmp_path, check=True)
    assert files(tmp_path) == expected(NEW)


def test_differences_of_one_file(tmp_path):
    path = tmp_path / "all.yaml"
    assert check(OLD[:1], path).startswith(f"--- /dev/null\n+++ b{path}\n@@ -0,0 +1,3 @@\n")
    write_file(OLD, path)
    assert check(OLD, path) == ""
    assert "-name: gone\n" in check(OLD[:3], path)
    path.write_bytes(output.text(OLD).encode() + b"\\x1b")
    assert check(OLD, path) != ""
    assert check([], tmp_path / "none.yaml") == "Files a/x and b/x differ\n".replace(
        "x", str(tmp_path / "none.yaml").lstrip("/")
    )


def test_a_folder_that_does_not_exist_yet_is_all_new(tmp_path):
    difference = check(OLD, tmp_path / "out")
    assert difference.count("--- /dev/null\n") == 4
    assert not (tmp_path / "out").exists()


def test_bytes_that_only_look_equal_still_differ(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_bytes(b"---\nname: a\na: \x1b\n")
    assert "differ" in check([manifest("a", "a: \\x1b")], path)


def test_what_cannot_be_compared_is_refused(tmp_path):
    write_folder(OLD, tmp_path)
    (tmp_path / "queue.a.yaml").unlink()
    (tmp_path / "queue.a.yaml").mkdir()
    assert "cannot be read: Is a directory" in refusal(check, OLD, tmp_path)
