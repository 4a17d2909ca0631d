"""Which files are read, and every reason to skip one, on a real file system."""

import io
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from policygen.core.rule import Severity
from policygen.documents import files
from policygen.documents.files import Source, inside, read, read_path


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def summaries(findings):
    assert {f.severity for f in findings} <= {Severity.ERROR}
    return [(f.place.file, f.place.line, f.place.column, f.rule.name, f.message) for f in findings]


def refused(*arguments, **options):
    """The name, rule and message of the only finding."""
    sources, findings = read(arguments, **options)
    assert sources == []
    ((name, line, column, rule, message),) = summaries(findings)
    assert (line, column) == (0, 0)
    assert "\n" not in message
    return name, rule, message


def test_folders_are_read_in_the_order_of_their_names(folder):
    for name in ("b.yaml", "a/z.yml", "a/B.json", "a/é.yaml", "a.yaml", "Z.YAML", "c/d/e.yaml"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    for name in ("x.txt", ".hidden.yaml", ".git/config.yaml", "a/yaml", "b.yaml~"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    sources, findings = read(["."])
    assert findings == []
    assert [source.name for source in sources] == [
        *("./Z.YAML", "./a/B.json", "./a/z.yml", "./a/é.yaml", "./a.yaml", "./b.yaml"),
        "./c/d/e.yaml",
    ]
    assert sources[3] == Source("./a/é.yaml", "a/é.yaml", Path("a/é.yaml"))
    assert [source.name for source in read(["a/", str(folder / "c")])[0]] == [
        *("a/B.json", "a/z.yml", "a/é.yaml"),
        f"{folder}/c/d/e.yaml",
    ]


def test_a_file_that_is_named_is_read_whatever_its_name():
    Path("notes.txt").write_bytes("é\r\n".encode())
    Path(".hidden").write_text("h")
    assert read(["notes.txt", ".hidden"]) == (
        [Source("notes.txt", "é\r\n", Path("notes.txt")), Source(".hidden", "h", Path(".hidden"))],
        [],
    )


def test_the_same_file_is_read_once():
    Path("d").mkdir()
    Path("d/a.yaml").write_text("a")
    Path("d/b.yaml").symlink_to("a.yaml")
    Path("d/c.yaml").hardlink_to("d/a.yaml")
    Path("e").symlink_to("d")
    sources, findings = read(["d/a.yaml", "d", "e", "./d/a.yaml", "."])
    assert ([source.name for source in sources], findings) == (["d/a.yaml"], [])


def test_mounted_config_maps_are_read_once():
    """In a mounted volume, files are links into a hidden folder."""
    Path("..2026").mkdir()
    Path("..2026/a.yaml").write_text("a")
    Path("..data").symlink_to("..2026")
    Path("a.yaml").symlink_to("..data/a.yaml")
    assert [source.name for source in read(["."])[0]] == ["./a.yaml"]


def test_stdin():
    stdin = io.BytesIO(b"a: 1\n")
    assert read(["-", "-"], stdin=stdin) == ([Source("<stdin>", "a: 1\n", None)], [])
    name, rule, message = refused("-", stdin=io.BytesIO(b"\xff\xfea\0"))
    assert (name, rule) == ("<stdin>", "file-not-utf-8")
    assert "UTF-16" in message


def test_stdin_that_is_closed():
    stdin = io.BytesIO()
    stdin.close()
    assert refused("-", stdin=stdin)[:2] == ("<stdin>", "unreadable-input")


def test_what_is_not_there():
    assert refused("a.yaml") == ("a.yaml", "unreadable-input", "this file or folder does not exist")
    Path("spec/teams").mkdir(parents=True)
    for typo, meant in (("sepc", "spec"), ("spec/taems", "spec/teams"), ("spce/x", "spec")):
        assert refused(typo)[2].endswith(f'does not exist; did you mean "{meant}"?')
    Path("a.yaml").symlink_to("gone")
    assert refused("a.yaml")[2] == 'this symbolic link points to "gone", which does not exist'
    assert refused(".")[0] == "./a.yaml"
    assert refused("a\0b")[2] == "this is not a valid file name; correct the path"
    assert (
        refused("")[2]
        == "the name of an input is empty; pass a file, a folder or - (standard input)"
    )
    assert refused("x" * 300)[2].startswith("this file or folder cannot be read: ")
    Path("file").write_text("")
    assert refused("file/a.yaml")[2] == "this file or folder cannot be read: not a directory"


def test_links_in_a_circle(folder):
    Path("a").symlink_to("b")
    Path("b").symlink_to("a")
    Path("d").mkdir()
    Path("d/e").symlink_to("../d")
    Path("d/f").mkdir()
    Path("d/f/g").symlink_to(folder / "d")
    Path("d/f/h.yaml").write_text("h")
    Path("d/i").symlink_to(folder)
    assert refused("a") == (
        "a",
        "unreadable-input",
        "this symbolic link points to itself; remove the link",
    )
    sources, findings = read(["."])
    assert [source.name for source in sources] == ["./d/f/h.yaml"]
    assert sorted((name, message) for name, *_, message in summaries(findings)) == [
        ("./a", "this symbolic link points to itself; remove the link"),
        ("./b", "this symbolic link points to itself; remove the link"),
        ("./d/e", "this symbolic link points to a folder that contains the link; remove the link"),
        (
            "./d/f/g",
            "this symbolic link points to a folder that contains the link; remove the link",
        ),
        ("./d/i", "this symbolic link points to a folder that contains the link; remove the link"),
    ]


def test_deep_folders():
    deep = ["/".join("d" * depth) for depth in range(1, 1_200)]
    try:
        for path in deep:
            Path(path).mkdir()
        Path(deep[-1], "a.yaml").write_text("a")
        sources, findings = read(["d"])
    finally:  # here, since pytest's own cleaning up would recurse
        Path(deep[-1], "a.yaml").unlink(missing_ok=True)
        for path in reversed(deep):
            Path(path).rmdir()
    assert (len(sources), findings) == (1, [])


def test_a_folder_without_specs():
    Path("d").mkdir()
    Path("d/notes.txt").write_text("")
    assert refused("d") == (
        *("d", "no-spec-files"),
        "this folder contains no .yaml, .yml or .json file; pass another folder or a file",
    )


def test_devices_and_sockets_are_not_opened():
    assert refused("/dev/null") == (
        *("/dev/null", "unreadable-input"),
        "this is a device, not a file",
    )
    Path("d").mkdir()
    Path("d/a.yaml").symlink_to("/dev/zero")
    os.mkfifo("d/b.yaml")
    os.mkfifo("d/c")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("d/s.yaml")
        sources, findings = read(["d"])
    assert sources == []
    assert [(name, message) for name, *_, message in summaries(findings)] == [
        ("d/a.yaml", "this is a device, not a file"),
        ("d/b.yaml", "this is a pipe, not a file"),
        ("d/s.yaml", "this is a socket, not a file"),
    ]


def test_a_named_pipe_is_not_opened():
    """Opening a pipe blocks until another process writes to it."""
    os.mkfifo("p")
    Path("link").symlink_to("p")
    assert refused("p", "link") == ("p", "unreadable-input", "this is a pipe, not a file")


def test_a_pipe_is_read_where_it_is_open():
    """After `policygen validate /dev/stdin < p` the writer of the pipe may have ended already."""
    os.mkfifo("p")
    both = os.open("p", os.O_RDWR)
    reading = os.open("p", os.O_RDONLY)
    os.write(both, b"a: 1\n")
    os.close(both)
    try:
        sources, findings = read([f"/dev/fd/{reading}"])
    finally:
        os.close(reading)
    assert ([source.text for source in sources], findings) == (["a: 1\n"], [])


def test_a_pipe_that_is_only_written_to():
    reading, writing = os.pipe()
    os.close(reading)
    try:
        assert refused(f"/dev/fd/{writing}")[2] == "this is a pipe, not a file"
    finally:
        os.close(writing)


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_standard_input_by_both_of_its_names(name):
    script = f"from policygen.documents.files import read; print(read(['{name}'])[0][0].text)"
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, input=b"a: 1\n", capture_output=True, check=True)
    assert done.stdout == b"a: 1\n\n"


def test_a_path_is_never_standard_input():
    assert [source.name for source in read_path(Path("-"))[0]] == []
    Path("-").write_text("a")
    assert [source.name for source in read_path(Path("-"))[0]] == ["-"]


def test_process_substitution():
    """A pipe as a shell creates it for <(command)."""
    reading, writing = os.pipe()
    os.write(writing, b"b: 2\n")
    os.close(writing)
    try:
        (source,), findings = read([f"/dev/fd/{reading}"])
    finally:
        os.close(reading)
    assert (source.name, source.text, findings) == (f"/dev/fd/{reading}", "b: 2\n", [])


@pytest.fixture
def unprivileged():
    """A folder that other users may enter; at the end, root gets its permissions back."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)
        if os.getuid() == 0:
            os.seteuid(0)
        for path in Path(name).iterdir():
            path.chmod(0o700)


def give_up_rights():
    if os.getuid() == 0:
        os.seteuid(65534)


def test_what_may_not_be_read(unprivileged):
    (unprivileged / "secret").mkdir()
    (unprivileged / "secret/a.yaml").write_text("a")
    (unprivileged / "b.yaml").write_text("b")
    (unprivileged / "b.yaml").chmod(0)
    (unprivileged / "secret").chmod(0)
    give_up_rights()
    sources, findings = read([str(unprivileged)])
    assert sources == []
    assert [
        (Path(name).name, rule, message) for name, _, _, rule, message in summaries(findings)
    ] == [
        ("b.yaml", "unreadable-input", "you have no permission to read this file or folder"),
        ("secret", "unreadable-input", "you have no permission to read this file or folder"),
    ]


ENCODINGS = {
    "utf-16": ("a: 1\n".encode("utf-16"), 'this file is UTF-16; save the file as "UTF-8"'),
    "utf-16-be": (b"\xfe\xff\0a", 'this file is UTF-16; save the file as "UTF-8"'),
    "utf-16, no mark": ("kind: Team\n".encode("utf-16-le"), "this file is UTF-16"),
    "utf-16-be, no mark": ("kind: Téam\n".encode("utf-16-be"), "this file is UTF-16"),
    "utf-32": ("a: 1\n".encode("utf-32"), 'this file is UTF-32; save the file as "UTF-8"'),
    "utf-32-be": (b"\0\0\xfe\xff\0\0\0a", "this file is UTF-32"),
    "utf-32, no mark": ("kind: Team\n".encode("utf-32-be"), "this file is UTF-32"),
}


@pytest.mark.parametrize("data, piece", ENCODINGS.values(), ids=ENCODINGS)
def test_other_encodings(data, piece):
    Path("a.yaml").write_bytes(data)
    name, rule, message = refused("a.yaml")
    assert (name, rule) == ("a.yaml", "file-not-utf-8")
    assert piece in message


@pytest.mark.parametrize(
    "data, line, column, text, message",
    [
        (
            *(b"a: 1\r\nb: \xc3\xa9\xe9 x\nc", 2, 5, "b: é\\xe9 x"),
            'byte 0xe9 is not UTF-8; save the file as "UTF-8"',
        ),
        (b"\xff", 1, 1, "\\xff", 'byte 0xff is not UTF-8; save the file as "UTF-8"'),
        (b"a: \xed\xa0\x80", 1, 4, "a: \\xed\\xa0\\x80", "byte 0xed is not UTF-8; save"),
        (
            b"a\nb\0c\nd\0",
            2,
            2,
            "b\0c",
            'this file contains a NUL byte, so it is not text; save the file as "UTF-8"',
        ),
        (
            b"a\0\xff",
            1,
            2,
            "a\0\\xff",
            'this file contains a NUL byte, so it is not text; save the file as "UTF-8"',
        ),
    ],
)
def test_bytes_that_are_not_text(data, line, column, text, message):
    Path("a.yaml").write_bytes(data)
    sources, (finding,) = read(["a.yaml"])
    assert sources == []
    assert (finding.rule.name, finding.place.line, finding.place.column) == (
        "file-not-utf-8",
        line,
        column,
    )
    assert finding.place.text == text
    assert finding.place.length >= 1
    assert finding.message.startswith(message)


def test_large_files_are_not_read(monkeypatch):
    with Path("a.yaml").open("wb") as file:
        file.truncate(files.MAX_FILE_BYTES + 1)
    assert refused("a.yaml")[2] == "this file is larger than 64 MiB; split it into several files"
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 1024 * 1024)
    endless = io.BytesIO(b"a" * (1024 * 1024 + 1))
    assert (
        refused("-", stdin=endless)[2]
        == "this file is larger than 1 MiB; split it into several files"
    )
    assert len(read(["-"], stdin=io.BytesIO(b"a" * 1024 * 1024))[0]) == 1


def test_the_output_is_not_read_as_input():
    Path("spec").mkdir()
    Path("spec/a.yaml").write_text("a")
    with Path("spec/out.yaml").open("w") as out:
        state = os.fstat(out.fileno())
        sources, findings = read(["spec"], output=state)
        assert [source.name for source in sources] == ["spec/a.yaml"]
        assert [(name, *rest) for name, _, _, *rest in summaries(findings)] == [
            (
                *("spec/out.yaml", "output-inside-input"),
                "the output file is inside the spec folder spec; write the output elsewhere",
            )
        ]
        name, rule, message = refused("spec/out.yaml", output=state)
        assert (name, rule) == ("spec/out.yaml", "output-inside-input")
        assert (
            message == "the output would overwrite this spec file; write the output to another file"
        )


def test_a_pipe_that_is_also_the_output_does_not_conflict():
    reading, writing = os.pipe()
    os.write(writing, b"a")
    os.close(writing)
    try:
        assert len(read([f"/dev/fd/{reading}"], output=os.fstat(reading))[0]) == 1
    finally:
        os.close(reading)


def test_everything_is_reported_at_once():
    Path("a.yaml").write_bytes(b"\xff")
    Path("b.yaml").write_text("b")
    Path("d").mkdir()
    sources, findings = read(
        ["a.yaml", "gone", "b.yaml", "d", "/dev/null", "-"], stdin=io.BytesIO()
    )
    assert [source.name for source in sources] == ["b.yaml", "<stdin>"]
    assert [name for name, *_ in summaries(findings)] == ["a.yaml", "gone", "d", "/dev/null"]


def test_names_that_are_not_text():
    name = os.fsdecode(b"a\xff\x1b.yaml")
    Path(name).write_text("a")
    assert [source.name for source in read(["."])[0]] == [f"./{name}"]


def test_inside(folder):
    Path("spec/deep").mkdir(parents=True)
    Path("link").symlink_to("spec")
    Path("a.yaml").write_text("a")
    assert inside("spec/out", ["spec"])
    assert inside("spec", ["x", "spec/"])
    assert inside("link/out/deeper", ["spec"])
    assert inside(folder / "spec/deep/new", ["link"])
    assert inside("a.yaml", ["a.yaml"])
    assert inside("out", ["."])
    assert not inside("out", ["spec", "a.yaml", "-"])
    assert not inside("spec-out", ["spec"])
    assert not inside("spec/../out", ["spec"])


def test_a_file_with_a_misspelled_ending_is_not_skipped_silently(folder):
    for name in (
        "a.yaml",
        "b.yamll",
        "c.ymal",
        "d.yml.bak",
        "e.yaml~",
        "f.toml",
        "g.xml",
        "h.jsonl",
        "README",
    ):
        (folder / name).write_text("a: 1\n")
    (folder / "i.yamll").mkdir()
    sources, findings = read(["."])
    assert [it.name for it in sources] == ["./a.yaml"]
    assert [(it.place.file, it.rule.name) for it in findings] == [
        ("./b.yamll", "unreadable-input"),
        ("./c.ymal", "unreadable-input"),
    ]
    assert findings[0].message.endswith("rename it to b.yaml, or move it out of the folder")
