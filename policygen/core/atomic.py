"""A file with new content, all or nothing: whoever reads it meanwhile sees the old or the new one."""

import errno
import os
import stat
from pathlib import Path

_PRIVATE = 0o600
_USUAL = 0o666
"""Less what the umask takes away."""


def write(path: Path, data: bytes, *, private: bool = False) -> None:
    """Replace a file's content and keep its permissions. Links are followed.

    A new one that is `private` only its owner may read. What is no regular file (a pipe, a device) is written
    to. Raises OSError, and RuntimeError for links in a circle.
    """
    if path.exists() and not path.is_file():  # asked of /dev/stdout itself: its pipe has no path
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
    """Write what is to replace a file beside it, with its permissions from the first byte on. Raises OSError."""
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    new = _PRIVATE if private else _USUAL
    staged.unlink(missing_ok=True)  # of a run that was killed, or a link that leads elsewhere
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
    with os.fdopen(os.open(staged, flags, new if mode is None else mode), "wb") as file:
        file.write(data)
    if mode is not None:
        staged.chmod(mode)  # also what the umask has taken away


def reason(error: OSError | RuntimeError) -> str:
    """Why something could not be written, as the system says it."""
    if isinstance(error, FileExistsError):  # where a folder should be made
        return os.strerror(errno.ENOTDIR)
    return getattr(error, "strerror", None) or str(error)
