"""Which files make up the input, and their text."""

import codecs
import errno
import fcntl
import os
import posixpath
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

from msgspec import Struct, field

from policygen.core.finding import Finding, Place
from policygen.core.quoting import listed, quoted
from policygen.core.rule import Rule
from policygen.core.suggest import is_slip, meant_file
from policygen.documents.decode import NotTextError, decode
from policygen.documents.rules import (
    FILE_NOT_UTF_8,
    NO_SPEC_FILES,
    OUTPUT_INSIDE_INPUT,
    UNREADABLE_INPUT,
)

ENDINGS: Final = (".yaml", ".yml", ".json")
"""Endings of files that are read in folders; a file that an argument names may have any ending."""
MAX_FILE_BYTES: Final = 64 * 1024 * 1024

STDIN: Final = "<stdin>"
GIT: Final = "git:"
"""Begins the name of a file or folder of a git revision: `git:REVISION:PATH`."""

_DEVICES = (
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISFIFO, "a pipe"),
)

_Identity = tuple[int, int]
"""Device and inode: the same file under any name."""


class Source(Struct, frozen=True):
    """One file of the input."""

    name: str
    """The name for messages: the argument, or its folder and the name in it; `<stdin>` for `-`."""
    text: str
    path: Path | None
    """None for stdin, and for files of a git revision."""
    mark: str = ""
    """The byte-order mark at the start of the file, if it has one; columns do not count it."""

    def whole(self, text: str) -> bytes:
        """The file's bytes with another text, after the same byte-order mark."""
        return (self.mark + text).encode()


def read(
    arguments: Sequence[str],
    *,
    stdin: BinaryIO | None = None,
    output: os.stat_result | None = None,
) -> tuple[list[Source], list[Finding]]:
    """The sources that the arguments name, and every reason why one cannot be read.

    `-` is `stdin` (by default that of the process). `git:REVISION:PATH` is a file or folder of a git
    revision, unless a file has that name. Files of a folder are in the order of their names; a file that
    is found twice is read once. Devices, sockets and pipes are not opened, since that may wait forever,
    except for pipes that the process was started with (`/dev/stdin`, and `<(command)` of a shell).
    `output` is the state of the file that will be written, which cannot be an input.
    """
    reading = _FileReading(stdin, output)
    for argument in arguments:
        if argument == "-":
            reading.add_stdin()
        else:
            reading.add(argument)
    return reading.sources, reading.findings


def read_path(path: Path) -> tuple[list[Source], list[Finding]]:
    """The sources of one path, which is never stdin, and the reasons as in `read`."""
    reading = _FileReading(None, None)
    reading.add(str(path))
    return reading.sources, reading.findings


def beside(source: Source, name: str) -> Path:
    """The path of a file that is named relative to the folder of a source.

    For stdin, this is the current folder. For a file of a git revision, it is the folder in this revision.
    """
    if source.path is not None:
        return source.path.parent / name
    if not source.name.startswith(GIT) or Path(name).is_absolute():
        return Path(name)
    revision, _, path = source.name.rpartition(":")
    return Path(f"{revision}:{posixpath.join(posixpath.dirname(path), name)}")


def inside(path: str | os.PathLike[str], arguments: Sequence[str]) -> bool:
    """Whether a path, which need not exist, is one of the inputs or inside a folder of the inputs."""
    target = Path(os.path.realpath(path))
    return any(
        target.is_relative_to(os.path.realpath(argument))
        for argument in arguments
        if argument != "-"
    )


def is_input(path: str | os.PathLike[str], arguments: Sequence[str]) -> bool:
    """Whether a path, which need not exist, is read: as an argument, or by its ending in a folder."""
    named = [os.path.realpath(argument) for argument in arguments if argument != "-"]
    if os.path.realpath(path) in named:
        return True
    return os.fspath(path).lower().endswith(ENDINGS) and inside(path, arguments)


class _Found(Struct, frozen=True):
    """A folder, or a file in one."""

    name: str
    state: os.stat_result
    above: frozenset[_Identity]
    """The folder itself, and all folders that contain it."""


class _FileReading(Struct, eq=False):
    stdin: BinaryIO | None
    output: os.stat_result | None
    sources: list[Source] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    seen: set[_Identity | str] = field(default_factory=set)

    def add(self, argument: str) -> None:
        """Read the file or folder of this name."""
        if not argument:
            self.refuse(
                argument,
                "the name of an input is empty; pass a file, a folder or - (standard input)",
            )
            return
        try:
            state = Path(argument).stat()
        except (OSError, ValueError) as error:
            if argument.startswith(GIT):
                self.add_revision(argument)
            else:
                self.refuse(argument, reason(error, argument))
            return
        if stat.S_ISDIR(state.st_mode):
            self.add_folder(argument, state)
        else:
            self.add_file(argument, state, folder=None)

    def add_stdin(self) -> None:
        """Read stdin, once."""
        if STDIN in self.seen:
            return
        self.seen.add(STDIN)
        try:
            data = (self.stdin or sys.stdin.buffer).read(MAX_FILE_BYTES + 1)
        except (OSError, ValueError) as error:
            self.refuse(STDIN, reason(error, STDIN))
            return
        self.keep(STDIN, data, None)

    def add_revision(self, argument: str) -> None:
        """Read a file or folder of a git revision, once."""
        from policygen.documents import git_files  # noqa: PLC0415 - most runs start no program

        if argument in self.seen:
            return
        self.seen.add(argument)
        found = False
        try:
            for it in git_files.read(
                argument.removeprefix(GIT), ENDINGS, MAX_FILE_BYTES, _too_large()
            ):
                found = True
                name = f"{argument.rstrip('/')}/{it.name}" if it.name else argument
                if it.refusal:
                    self.refuse(name, it.refusal)
                elif it.identity not in self.seen:
                    self.seen.add(it.identity)
                    self.keep(name, it.data, None)
        except git_files.GitError as error:
            self.refuse(argument, str(error))
            return
        if not found:
            self.refuse_empty(argument)

    def add_folder(self, folder: str, state: os.stat_result) -> None:
        """Read the specs of a folder and of those below it."""
        before = len(self.findings)
        found = False
        for name, inner in self.walk(folder, state):
            found = True
            self.add_file(name, inner, folder=folder)
        if not found and len(self.findings) == before:
            self.refuse_empty(folder)

    def walk(self, folder: str, state: os.stat_result) -> Iterator[tuple[str, os.stat_result]]:
        """The spec files of a tree, in the order of their names. Unreadable folders are reported."""
        visited = {_identity(state)}
        pending = [_Found(folder, state, frozenset(visited))]
        while pending:
            found = pending.pop()
            if not stat.S_ISDIR(found.state.st_mode):
                yield found.name, found.state
                continue
            # A stack, so the first entry is added last.
            for below in reversed(list(self.entries(found))):
                identity = _identity(below.state)
                if not stat.S_ISDIR(below.state.st_mode):
                    pending.append(below)
                elif identity in found.above:
                    message = "this symbolic link points to a folder that contains the link; remove the link"
                    self.refuse(below.name, message)
                elif identity not in visited:
                    visited.add(identity)
                    pending.append(below)

    def entries(self, folder: _Found) -> Iterator[_Found]:
        """The folders and spec files of one folder."""
        try:
            entries = sorted(path.name for path in Path(folder.name).iterdir())
        except OSError as error:
            self.refuse(folder.name, reason(error, folder.name))
            return
        for entry in entries:
            if entry.startswith("."):
                continue
            # Path's join would remove "./" from an argument.
            name = f"{folder.name.rstrip('/')}/{entry}"
            matches = entry.lower().endswith(ENDINGS)
            try:
                state = Path(name).stat()
            except OSError as error:
                if matches or error.errno == errno.ELOOP:
                    self.refuse(name, reason(error, name))
                continue
            if matches or stat.S_ISDIR(state.st_mode):
                yield _Found(name, state, folder.above | {_identity(state)})
            elif any(
                is_slip(Path(entry).suffix[1:], it) for it in ("yaml", "yml")
            ):  # .jsonl is not a slip
                self.refuse(
                    name,
                    f"policygen does not read this file, because its name ends in {Path(entry).suffix}; rename it "
                    f"to {Path(entry).stem}.yaml, or move it out of the folder",
                )

    def add_file(self, name: str, state: os.stat_result, *, folder: str | None) -> None:
        """Read one file."""
        if _identity(state) in self.seen:
            return
        self.seen.add(_identity(state))
        descriptor = None
        if stat.S_ISFIFO(state.st_mode) and folder is None:
            descriptor = _descriptor(state)
        for is_device, what in _DEVICES:
            if is_device(state.st_mode) and descriptor is None:
                self.refuse(name, f"this is {what}, not a file")
                return
        if self.output and stat.S_ISREG(state.st_mode) and os.path.samestat(state, self.output):
            message = "the output would overwrite this spec file; write the output to another file"
            if folder:
                message = f"the output file is inside the spec folder {folder}; write the output elsewhere"
            self.refuse(name, message, rule=OUTPUT_INSIDE_INPUT)
            return
        if state.st_size > MAX_FILE_BYTES:
            self.refuse(name, _too_large())
            return
        try:
            # A pipe is read where it is open: its path would open another end.
            with open(name if descriptor is None else descriptor, "rb") as file:  # noqa: PTH123 - Path.open takes no descriptor
                # Python allocates as many bytes as it should read, so it first reads the size of the file.
                data = file.read(state.st_size + 1)
                if len(data) > state.st_size:
                    data += file.read(MAX_FILE_BYTES + 1 - len(data))
        except OSError as error:
            self.refuse(name, reason(error, name))
            return
        self.keep(name, data, Path(name))

    def keep(self, name: str, data: bytes, path: Path | None) -> None:
        """Make a source of the bytes."""
        if len(data) > MAX_FILE_BYTES:
            self.refuse(name, _too_large())
            return
        mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""  # kubectl accepts it
        try:
            text = decode(data[len(mark) :])
            self.sources.append(Source(name, text, path, mark.decode()))
        except NotTextError as error:
            place = Place(name, error.line, error.column, error.length, error.text)
            self.findings.append(Finding(FILE_NOT_UTF_8, str(error), place))

    def refuse_empty(self, folder: str) -> None:
        """Report that a folder has no file to read."""
        message = (
            f"this folder contains no {listed([*ENDINGS])} file; pass another folder or a file"
        )
        self.refuse(folder, message, rule=NO_SPEC_FILES)

    def refuse(self, name: str, message: str, *, rule: Rule = UNREADABLE_INPUT) -> None:
        """Report why a file is not read."""
        self.findings.append(Finding(rule, message, Place(name)))


def _descriptor(pipe: os.stat_result) -> int | None:
    """A duplicate of the descriptor by which this process can read a pipe; None if it has no descriptor."""
    with suppress(OSError):  # a system without /dev/fd
        for number in [int(path.name) for path in Path("/dev/fd").iterdir()]:
            with suppress(OSError):  # the one that listed them is closed again
                mode = fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE
                if mode != os.O_WRONLY and os.path.samestat(os.fstat(number), pipe):
                    return os.dup(number)
    return None


def _identity(state: os.stat_result) -> _Identity:
    return state.st_dev, state.st_ino


def _too_large() -> str:
    return f"this file is larger than {MAX_FILE_BYTES // 1024 // 1024} MiB; split it into several files"


def reason(error: OSError | ValueError, name: str) -> str:
    """Why a file cannot be opened, as a message."""
    if isinstance(error, FileNotFoundError):
        if Path(name).is_symlink():
            target = str(Path(name).readlink())
            return f"this symbolic link points to {quoted(target)}, which does not exist"
        return f"this file or folder does not exist{_nearest(Path(name))}"
    if isinstance(error, PermissionError):
        return "you have no permission to read this file or folder"
    if isinstance(error, OSError):
        if error.errno == errno.ELOOP:
            return "this symbolic link points to itself; remove the link"
        return f"this file or folder cannot be read: {(error.strerror or str(error)).lower()}"
    return "this is not a valid file name; correct the path"


def _nearest(path: Path) -> str:
    """The end of a message: the existing path that a missing one resembles most."""
    missing = path
    while missing.parent != missing and not missing.parent.is_dir():
        missing = missing.parent
    with suppress(OSError):
        folder = missing.parent
        entries = (it.name for it in folder.iterdir() if not it.name.startswith("."))
        if meant := meant_file(missing.name, entries):
            return f"; did you mean {quoted(str(folder / meant))}?"
    return ""
