"""Folders of users' own templates: that each file in them is one, and does something."""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from pathlib import Path, PurePosixPath

from policygen.core.errors import UsageError
from policygen.documents.decode import NotTextError, decode
from policygen.render.environment import UnreadableError

MAX_SOURCE = 1 << 20
"""Bytes of one template."""

_SHOWN = 5


def check(folders: Sequence[Path], known: Sequence[str]) -> None:
    """Refuse what would silently do nothing: a misspelt name, a folder without templates.

    `known` are the shipped templates, by their paths below templates/. A file is used if it has
    one of these paths, or, by others that include it, if its name begins with `_`. Names that
    begin with a dot and Markdown are nobody's business. Raises UsageError.
    """
    replacing, known_names = False, frozenset(known)
    for folder in folders:
        used: list[str] = []
        try:
            if not folder.is_dir():
                raise UsageError(f"--templates {folder} is no folder")
            faults = list(islice(_faults(folder, used, known), _SHOWN + 1))
        except OSError as error:
            raise UsageError(f"--templates {folder} cannot be read: {error.strerror}") from None
        if faults:
            more = ["more such files"] if len(faults) > _SHOWN else []
            raise UsageError("; ".join([*faults[:_SHOWN], *more]))
        if not used:
            raise UsageError(f"--templates {folder} holds no template; {_remedy(known)}")
        replacing = replacing or not known_names.isdisjoint(used)
    if not replacing:
        these = " and ".join(f"{folder}" for folder in folders)
        raise UsageError(f"--templates {these} replaces no shipped template; {_remedy(known)}")


def _remedy(known: Sequence[str]) -> str:
    return f"name a file there as a shipped one, such as {known[0]}"


def _faults(folder: Path, used: list[str], known: Sequence[str]) -> Iterator[str]:
    """What is wrong with the files of a folder; `used` gets the others."""
    real = folder.resolve()
    for name, mode in _entries(folder, "", frozenset(known)):
        path = folder / name
        if name not in known and not path.name.startswith("_"):
            if stat.S_ISDIR(mode):
                yield f"{path} is a link to a folder; put the folder itself there"
            else:
                yield f"{path} replaces no shipped template; {_advice(name, known)}"
        elif not stat.S_ISREG(mode):
            what = "a folder" if stat.S_ISDIR(mode) else "no regular file"
            yield f"{path} is {what}; put the template there as a file"
        elif not path.resolve().is_relative_to(real):
            # One that others include is told when they do.
            if name in known:
                yield outside(path, folder)
        else:
            used.append(name)
            try:
                if name.endswith(".j2"):
                    read(path)
            except UnreadableError as error:
                yield f"{error.where}: {error}"


def outside(path: Path, folder: Path) -> str:
    """What is said of a link that leads out of the folder."""
    return f"{path} leads outside {folder}; put the file itself there"


def _entries(folder: Path, prefix: str, known: frozenset[str]) -> Iterator[tuple[str, int]]:
    """Files below a folder that count, folders in the place of one, and what they are."""
    for entry in sorted(os.scandir(folder / prefix), key=lambda each: each.name):
        name = f"{prefix}{entry.name}"
        if entry.name.startswith(".") or name.endswith(".md"):
            continue
        mode = _mode(entry)
        if stat.S_ISDIR(mode) and not entry.is_symlink() and name not in known:
            yield from _entries(folder, f"{name}/", known)
        elif name in known or not entry.name.startswith("_") or stat.S_ISREG(mode):
            yield name, mode


def _mode(entry: "os.DirEntry[str]") -> int:
    """What an entry is, or a link leads to; 0 for one that leads nowhere."""
    try:
        return entry.stat().st_mode
    except OSError:
        return 0


def _advice(name: str, known: Sequence[str]) -> str:
    last: Mapping[str, str] = {PurePosixPath(each).name: each for each in reversed(known)}
    close = get_close_matches(name, known, n=1) or [
        last[each] for each in get_close_matches(PurePosixPath(name).name, list(last), n=1)
    ]
    rename = f'rename it to "{close[0]}"' if close else f'rename it as one, such as "{known[0]}"'
    return f"{rename}, or let its name begin with _ if your templates include it"


def read(path: Path) -> str:
    """The text of a template. Raises UnreadableError."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_SOURCE + 1)
    except OSError as error:
        raise UnreadableError(f"{path}", f"cannot be read: {error.strerror}") from None
    if len(data) > MAX_SOURCE:
        raise UnreadableError(f"{path}", f"is longer than {MAX_SOURCE >> 10} KiB")
    try:
        return decode(data)
    except NotTextError as error:
        where = f"{path}:{error.line}" if error.line else f"{path}"
        raise UnreadableError(where, f"{error}") from None
