"""Folders of users' templates: every file must be a template that has an effect."""

import os
import tempfile
from pathlib import Path

import pytest

from policygen.render.engine import render
from tests.render.sandboxed import HEAD, PATH, flavor, local_queue, refused


def test_files_that_are_not_templates_are_ignored(own, folder):
    own(HEAD)
    (folder / "README.md").write_text("ours")
    (folder / "kueue" / "_notes").write_bytes(b"\xff")
    (folder / "kueue" / "_link.j2").symlink_to("/dev/null")
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("")
    assert render([local_queue()], templates=[folder]) == render([local_queue()])


SHIPPED = "give a file in this folder the name of a shipped template, such as admission/matched.j2"


def test_a_misspelt_file_name_is_refused_with_the_nearest(own, folder):
    first = own(HEAD, "kueue/resource_flavour.yaml.j2")
    second = own(HEAD, "queue.yaml")
    help_ = "or begin the file name with _ if your templates include the file"
    assert refused(folder) == (
        f'{first} replaces no shipped template; rename the file to "{PATH}", {help_}; '
        f'{second} replaces no shipped template; rename the file to "volcano/queue.yaml.j2", {help_}'
    )
    first.rename(folder / "zzz")
    second.unlink()
    assert refused(folder) == (
        f"{folder}/zzz replaces no shipped template; rename the file, for example to "
        f'"admission/matched.j2", {help_}'
    )
    own(HEAD, "volcano/foo.j2")
    assert (
        "foo.j2 replaces no shipped template; rename the file to pod_group.yaml.j2, queue.yaml.j2 "
        f"or scheduler_configuration.yaml.j2, {help_}"
    ) in refused(folder)
    (folder / "volcano" / "foo.j2").unlink()
    for number in range(9):
        own(HEAD, f"x{number}")
    assert refused(folder).count("replaces no shipped template") == 5
    assert refused(folder).endswith("; more files have similar faults")


def test_a_path_that_is_not_a_folder_is_refused(folder):
    assert refused(folder / "none") == f"--templates {folder}/none is not a folder"
    (folder / "file").write_text("")
    assert refused(folder / "file") == f"--templates {folder}/file is not a folder"


def test_a_folder_that_does_nothing_is_refused(own, folder, tmp_path):
    (folder / "README.md").write_text("ours")
    (folder / "kueue").mkdir()
    assert refused(folder) == f"--templates {folder} contains no template; {SHIPPED}"
    own("", "_ours.j2")
    assert refused(folder) == f"--templates {folder} replaces no shipped template; {SHIPPED}"
    other = tmp_path / "other"
    (other / "kueue").mkdir(parents=True)
    (other / PATH).write_text(f'{HEAD}{{% include "_ours.j2" %}}')
    assert len(render([flavor()], templates=[folder, other])) == 1


@pytest.mark.parametrize(
    "make, what",
    [
        (os.mkfifo, "is not a regular file; replace it by the template file"),
        (os.mkdir, "is a folder; replace it by the template file"),
        (lambda path: path.symlink_to("nowhere"), "is not a regular file; replace it by"),
        (lambda path: path.symlink_to(path), "is not a regular file; replace it by"),
        (lambda path: path.symlink_to("."), "is a folder; replace it by the template file"),
        (lambda path: path.symlink_to("/dev/null"), "is not a regular file; replace it by"),
        (lambda path: path.symlink_to(__file__), "is a link to a file outside"),
        (
            lambda path: path.write_bytes(b"x" * (1 << 20) + b"y"),
            ": the template is longer than 1024 KiB",
        ),
    ],
)
def test_a_non_file_in_the_place_of_a_template_is_refused(own, folder, make, what):
    own(HEAD)
    path = folder / "volcano" / "queue.yaml.j2"
    path.parent.mkdir()
    make(path)
    said = refused(folder)
    assert said.removeprefix(str(path)).lstrip().startswith(what)


def test_a_link_inside_the_folder_is_followed(own, folder):
    own(f"{HEAD}mine: 1\n", "_ours")
    (folder / "kueue").mkdir()
    (folder / PATH).symlink_to("../_ours")
    assert render([flavor()], templates=[folder])[0].text.endswith("mine: 1\n")
    (folder / "volcano").symlink_to("kueue")
    assert refused(folder) == (
        f"{folder}/volcano is a link to a folder; replace the link by the folder"
    )


@pytest.mark.parametrize(
    "name, data, said",
    [
        (PATH, b"a\nb\xe9\n", ':2: byte 0xe9 is not UTF-8; save the file as "UTF-8"'),
        ("_helper.j2", b"\xff", ':1: byte 0xff is not UTF-8; save the file as "UTF-8"'),
        (PATH, "ab".encode("utf-16"), ': this file is UTF-16; save the file as "UTF-8"'),
        (
            PATH,
            b"\xef\xbb\xbfab",
            ': this file begins with a byte-order mark; save the file as "UTF-8 without',
        ),
        (
            PATH,
            b"ab\0",
            ':1: this file contains a NUL byte, so it is not text; save the file as "UTF-8"',
        ),
    ],
)
def test_a_template_that_is_not_text_is_reported_once_with_its_position(
    own, folder, name, data, said
):
    own(HEAD)
    (folder / name).write_bytes(data)
    text = refused(folder, local_queue())
    assert text.startswith(f"{folder / name}{said}")
    assert "codec" not in text
    assert text.count(name) == 1


def test_an_included_file_that_is_not_text_is_reported_with_its_position(own, folder):
    own(HEAD + '{% include "_helper" %}')
    (folder / "_helper").write_bytes(b"a\n\xff")
    assert refused(folder) == (
        f'{folder}/_helper:2: ResourceFlavor "h100": byte 0xff is not UTF-8; save the file as "UTF-8"'
    )


def test_an_unreadable_folder_is_reported():
    who = os.geteuid()
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        folder = Path(name) / "own"
        (folder / "kueue").mkdir(parents=True)
        (folder / PATH).touch(0)
        try:
            os.seteuid(65534 if who == 0 else who)
            unreadable = refused(folder)
            os.seteuid(who)
            folder.chmod(0)
            os.seteuid(65534 if who == 0 else who)
            closed = [refused(folder), refused(folder / "kueue")]
        finally:
            os.seteuid(who)
            folder.chmod(0o755)
    assert unreadable == f"{folder / PATH}: the template cannot be read: Permission denied"
    assert closed == [
        f"--templates {folder} cannot be read: Permission denied",
        f"--templates {folder}/kueue cannot be read: Permission denied",
    ]
