"""Replaces the content of a file atomically: readers see the old or the new content."""

import errno
import os
import stat
from pathlib import Path

_PRIVATE = 0o600
_USUAL = 0o666
"""Minus the bits of the umask."""


def write(path: Path, data: bytes, *, private: bool = False) -> None:
    """Replace the content of a file and keep its permissions. Links are followed.

    With `private`, only the owner may read a new file. A pipe or device is written directly. Raises
    OSError, and RuntimeError for links in a circle.
    """
    if path.exists() and not path.is_file():  # checks /dev/stdout itself: its pipe has no path
        path.write_bytes(data)
        return
    target = path.resolve()
    staged = target.with_name(f".{target.name}.policygen-{os.getpid()}")
    try:
        stage(staged, data, target, private=private)
        staged.replace(target)
    finally:
        staged.unlink(missing_ok=True)


def stage(staged: Path, data: bytes, target: Path, *, private: bool = False) -> None:
    """Write the new content next to a file, with the permissions of the file. Raises OSError."""
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    new = _PRIVATE if private else _USUAL
    staged.unlink(missing_ok=True)  # from a run that was killed, or a link to another file
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
    with os.fdopen(os.open(staged, flags, new if mode is None else mode), "wb") as file:
        file.write(data)
    if mode is not None:
        staged.chmod(mode)  # also the bits that the umask removed


def reason(error: OSError | RuntimeError) -> str:
    """The system's message for a failed write."""
    if isinstance(error, FileExistsError):  # where a folder should be made
        return os.strerror(errno.ENOTDIR)
    return getattr(error, "strerror", None) or "symbolic links form a circle"
