"""A file with new content, all or nothing: whoever reads it meanwhile sees the old or the new one."""

import errno
import os
import stat
from pathlib import Path


def write(path: Path, data: bytes) -> None:
    """Replace a file's content and keep its permissions. Links are followed.

    What is no regular file (a pipe, a device) is written to. Raises OSError, and RuntimeError for
    links in a circle.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        target.write_bytes(data)
        return
    staged = target.with_name(f".{target.name}.policygen-{os.getpid()}")
    try:
        stage(staged, data, target)
        staged.replace(target)
    finally:
        staged.unlink(missing_ok=True)


def write_private(path: Path, data: bytes) -> None:
    """The same of a file that only its owner may read from its first byte on. Raises OSError."""
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    write(path, data)


def stage(staged: Path, data: bytes, target: Path) -> None:
    """Write what is to replace a file beside it, with its permissions from the first byte on. Raises OSError."""
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    staged.unlink(missing_ok=True)  # of a run that was killed, or a link that leads elsewhere
    handle = os.open(staged, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666 if mode is None else mode)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    if mode is not None:
        staged.chmod(mode)  # also what the umask has taken away


def reason(error: OSError | RuntimeError) -> str:
    """Why something could not be written, as the system says it."""
    if isinstance(error, FileExistsError):  # where a folder should be made
        return os.strerror(errno.ENOTDIR)
    return getattr(error, "strerror", None) or str(error)
