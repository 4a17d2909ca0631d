"""Checks folders of users' templates: each file must be a template, and must have an effect."""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from pathlib import Path, PurePosixPath

from policygen.core.errors import UsageError
from policygen.core.quoting import listed, quoted
from policygen.documents.decode import NotTextError, decode
from policygen.render.environment import Shipped, UnreadableError

MAX_SOURCE = 1 << 20
"""The largest template, in bytes."""

_SHOWN = 5


def check(folders: Sequence[Path], known: Sequence[str]) -> None:
    """Refuse files without effect: a misspelled name, a folder without templates.

    `known` are the paths of the shipped templates below templates/. A file is used if it has one
    of these paths, or if its name begins with `_`, so that other templates can include it. Names
    that begin with a dot and Markdown files are ignored. Raises UsageError.
    """
    replacing, known_names = False, frozenset(known)
    for folder in folders:
        used: list[str] = []
        try:
            if not folder.is_dir():
                raise UsageError(f"--templates {folder} is not a folder")
            faults = list(islice(_faults(folder, used, known), _SHOWN + 1))
        except OSError as error:
            raise UsageError(f"--templates {folder} cannot be read: {error.strerror}") from None
        if faults:
            more = ["more files have similar faults"] if len(faults) > _SHOWN else []
            raise UsageError("; ".join([*faults[:_SHOWN], *more]))
        if not used:
            raise UsageError(f"--templates {folder} contains no template; {_remedy(known)}")
        replacing = replacing or not known_names.isdisjoint(used)
    if not replacing:
        these = " and ".join(f"{folder}" for folder in folders)
        raise UsageError(f"--templates {these} replaces no shipped template; {_remedy(known)}")


def _remedy(known: Sequence[str]) -> str:
    return f"give a file in this folder the name of a shipped template, such as {known[0]}"


def _faults(folder: Path, used: list[str], known: Sequence[str]) -> Iterator[str]:
    """The faults of the files in a folder. Valid names are added to `used`."""
    real = folder.resolve()
    for name, mode in _entries(folder, "", frozenset(known)):
        path = folder / name
        if name not in known and not path.name.startswith("_"):
            if stat.S_ISDIR(mode):
                yield f"{path} is a link to a folder; replace the link by the folder"
            else:
                yield f"{path} replaces no shipped template; {_advice(name, known)}"
        elif not stat.S_ISREG(mode):
            what = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
            yield f"{path} is {what}; replace it by the template file"
        elif not path.resolve().is_relative_to(real):
            # A link that another template includes is reported when it is included.
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
    """The message for a link to a file outside the folder."""
    return f"{path} is a link to a file outside {folder}; replace the link by the file"


def _entries(folder: Path, prefix: str, known: frozenset[str]) -> Iterator[tuple[str, int]]:
    """The files below a folder that can be templates, and their modes.

    A folder that has the name of a template is included.
    """
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
    """The mode of an entry, or of the target of a link; 0 for a broken link."""
    try:
        return entry.stat().st_mode
    except OSError:
        return 0


def _advice(name: str, known: Sequence[str]) -> str:
    # Equal folders and endings make paths similar whose file names are not.
    near = [each for each in known if get_close_matches(_stem(name), [_stem(each)])]
    last: Mapping[str, str] = {PurePosixPath(each).name: each for each in reversed(near)}
    close = get_close_matches(name, near, n=1) or [
        last[each] for each in get_close_matches(PurePosixPath(name).name, list(last), n=1)
    ]
    beside = Shipped().beside(name)
    if close:
        rename = f"rename the file to {quoted(close[0])}"
    elif beside:
        rename = f"rename the file to {listed(beside)}"
    else:
        rename = f"rename the file, for example to {quoted(known[0])}"
    return f"{rename}, or begin the file name with _ if your templates include the file"


def _stem(name: str) -> str:
    return PurePosixPath(name).name.partition(".")[0]


def read(path: Path) -> str:
    """The text of a template. Raises UnreadableError."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_SOURCE + 1)
    except OSError as error:
        raise UnreadableError(f"{path}", f"the template cannot be read: {error.strerror}") from None
    if len(data) > MAX_SOURCE:
        raise UnreadableError(f"{path}", f"the template is longer than {MAX_SOURCE >> 10} KiB")
    try:
        return decode(data)
    except NotTextError as error:
        where = f"{path}:{error.line}" if error.line else f"{path}"
        raise UnreadableError(where, f"{error}") from None
