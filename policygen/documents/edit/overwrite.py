"""Overwrites files that were read: all files or no file, and never half a file."""

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from policygen.core import atomic
from policygen.core.errors import UsageError
from policygen.documents.files import STDIN, Source


def overwrite(changes: Sequence[tuple[Source, str]]) -> None:
    """Write the new text of each file; a file keeps its mode and owner, a link its target.

    Everything is written next to its file first and then renamed. If a file has changed since it was
    read, or must not be written, raises UsageError before anything is changed.
    """
    staged: list[tuple[Path, Path]] = []
    try:
        for source, text in changes:
            try:
                staged.append(_staged(source, text))
            except OSError as error:
                raise UsageError(f"{source.name} cannot be written: {error.strerror}") from None
        for new, target in staged:
            new.replace(target)
    except OSError as error:
        raise UsageError(f"{error.filename} cannot be written: {error.strerror}") from None
    finally:
        for new, _ in staged:
            new.unlink(missing_ok=True)


def _staged(source: Source, text: str) -> tuple[Path, Path]:
    """A file with the new content next to the file that it replaces, and that file."""
    if source.path is None:
        what = "standard input" if source.name == STDIN else source.name
        raise UsageError(f"--write cannot change {what}; omit --write to print a diff")
    target = Path(os.path.realpath(source.path))
    state = target.stat()
    if not stat.S_ISREG(state.st_mode):
        raise UsageError(
            f"{source.name} is not a regular file, so --write does not change the file"
        )
    if not state.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
        raise UsageError(f"{source.name} is read-only, so --write does not change the file")
    if state.st_nlink > 1:
        raise UsageError(
            f"{source.name} has a second name (a hard link), so --write does not change the file"
        )
    if not os.access(target, os.W_OK):
        raise UsageError(f"you have no permission to write {source.name}; change its permissions")
    if target.read_bytes() != source.whole(source.text):
        raise UsageError(
            f"{source.name} changed during this run, so no file is written; run the command again"
        )
    new = target.with_name(f".{target.name}.policygen-{os.getpid()}")
    try:
        atomic.stage(new, source.whole(text), target)
        if (state.st_uid, state.st_gid) != (os.geteuid(), os.getegid()):
            os.chown(new, state.st_uid, state.st_gid)
            new.chmod(stat.S_IMODE(state.st_mode))  # a change of the owner may remove bits
    except OSError:
        new.unlink(missing_ok=True)
        raise
    return new, target
