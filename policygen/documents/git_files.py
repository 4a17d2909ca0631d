"""The files of a git revision, such as `git:main:platform/spec`.

They are read from the objects of the repository that contains the current folder. Nothing is checked out.
"""

import os
import posixpath
import re
import subprocess
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct

from policygen.core.quoting import counted, quoted
from policygen.core.suggest import Names, meant_file

_NAME = re.compile(r"[A-Za-z0-9][\w./-]*")
"""A branch or a tag, and not `HEAD~1`."""
_STEPS = re.compile(r"(?:[~^]|@\{).*")
"""From a branch, tag or hash to a commit: `~2`."""
_BEFORE = re.compile(r"(?:~\d*|\^)+")
"""Steps to earlier commits."""
_HASH = re.compile(r"HEAD|[0-9a-f]{7,40}")
_KIND = re.compile(r"(?:refs/)?(?:heads|tags|remotes)/")
"""The prefix of a branch or tag in a full or partial name of a ref."""
_FOLDER = b"040000"
_LINK = b"120000"
_SUBMODULE = b"160000"
_MOST_LINKS = 40
"""Linux follows so many links in a path."""
_OUTSIDE = "this symbolic link points out of the repository"
_NO_TARGET = "this symbolic link points to a file that does not exist in this revision"
_OF_SUBMODULE = (
    "a submodule is another repository, so its files are not read; name a folder without it, or a "
    "folder on disk"
)


class GitError(Exception):
    """A revision, or a path in it, cannot be read; the message is the reason."""


class _MissingError(GitError):
    """A path does not exist."""


class GitFile(NamedTuple):
    """One file of a revision."""

    name: str
    """Inside the path that was read; "" if the path is a file."""
    data: bytes
    refusal: str = ""
    """Why its content is unknown."""
    identity: str = ""
    """The commit, and the path without links; "" if it is refused."""


class _Tree(Struct, frozen=True):
    """A commit. Paths begin at its top, which is ""."""

    modes: Mapping[str, bytes]
    objects: Mapping[str, str]
    """The hash of each path."""
    names: Mapping[str, list[str]]
    """What each folder contains."""
    targets: Mapping[str, tuple[bytes, str]]
    """The text of each link, or why it is unknown."""

    def real(self, path: str) -> str:
        """The path without links. Raises GitError."""
        rest, at = path.split("/")[::-1], ""
        followed = 0
        while rest:
            part = rest.pop()
            if part == ".." and not at:
                raise GitError(_OUTSIDE)
            if part in {"", ".", ".."}:
                at = posixpath.dirname(at) if part == ".." else at
                continue
            name = posixpath.join(at, part)
            mode = self.modes.get(name)
            if mode is None or (rest and mode not in {_FOLDER, _LINK, _SUBMODULE}):
                raise GitError(_NO_TARGET) if followed else _MissingError
            if mode == _SUBMODULE:
                raise GitError(_OF_SUBMODULE)
            if mode != _LINK:
                at = name
                continue
            followed += 1
            if followed > _MOST_LINKS:
                raise GitError("this symbolic link points to itself; remove the link")
            target, unknown = self.targets[name]
            if unknown or target.startswith(b"/"):
                raise GitError(unknown or _OUTSIDE)
            rest += target.decode(errors="surrogateescape").split("/")[::-1]
        return at


class _GitEntry(NamedTuple):
    """A file or folder, before it is read."""

    name: str
    """Inside the folder that was named."""
    path: str
    """Without links."""
    above: frozenset[str] = frozenset()
    """Of a folder: itself, and all folders through which it was found."""
    refusal: str = ""


def read(argument: str, endings: tuple[str, ...], limit: int, too_large: str) -> Iterator[GitFile]:
    """The file, or the files that a folder on disk would be read with, in the order of their names.

    `argument` is `REVISION:PATH`. As for `git show`, a path begins at the top of the repository, or at
    the current folder if it begins with `./` or `../`; `.` and `..` are folders, too. Files above
    `limit`, in bytes, are refused as `too_large`. Raises GitError.
    """
    revision, colon, path = argument.rpartition(":")
    if not colon or not revision or not path:
        raise GitError("write git:REVISION:PATH, such as git:main:platform/spec")
    here = _output("rev-parse", "--show-prefix").decode(errors="surrogateescape").rstrip("\n")
    commit = _commit(revision)
    is_relative = f"{path}/".startswith(("./", "../"))
    top = posixpath.normpath(posixpath.join(here if is_relative else "", path.lstrip("/")))
    if top.split("/")[0] == "..":
        raise GitError("this path is outside the repository")
    tree = _tree(commit)
    try:
        real = tree.real(top)
    except _MissingError:
        advice = _nearest(tree, top)
        if here and not is_relative:
            advice = f"; paths begin at the top of the repository, so write for example ./{path}"
        message = f"{quoted(path)} does not exist in revision {quoted(revision)}{advice}"
        raise GitError(message) from None
    is_folder = tree.modes[real] == _FOLDER
    found = list(_walk(tree, real, endings)) if is_folder else [_GitEntry("", real)]
    named = {tree.objects[it.path] for it in found if not it.refusal}
    small = [name for name, size in _sizes(named) if size <= limit]
    known = dict(zip(small, _contents(small), strict=True))
    for it in found:
        data, refusal = b"", it.refusal
        if not refusal:
            data, refusal = known.get(tree.objects[it.path], (b"", too_large))
        yield GitFile(it.name, data, refusal, "" if refusal else f"{commit}:{it.path}")


def _nearest(tree: _Tree, path: str) -> str:
    """The end of a message: the entry that the first missing part of a path resembles most."""
    folder = path
    while folder and folder not in tree.modes:
        folder, _, missing = folder.rpartition("/")
    meant = meant_file(missing, tree.names.get(folder, ()))
    return f"; did you mean {quoted(posixpath.join(folder, meant))}?" if meant else ""


def uncommitted(argument: str) -> tuple[str, ...]:
    """The files below `REVISION:PATH` that the working tree changes, if the revision is checked out.

    Raises GitError.
    """
    revision, _, path = argument.rpartition(":")
    if _commit(revision) != _commit("HEAD"):
        return ()
    here = f"{path}/".startswith(("./", "../"))
    return changed_files(path if here else f":(top){path.lstrip('/')}")


def changed_files(path: str) -> tuple[str, ...]:
    """The files below a path of the working tree that are not committed. Raises GitError."""
    lines = _output("status", "--porcelain", "-z", "--no-renames", "--", path).split(b"\0")[:-1]
    return tuple(line[3:].decode(errors="replace") for line in lines)


def _commit(revision: str) -> str:
    """The commit of a branch, tag or hash. Raises GitError."""
    found = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if found.returncode == 0:
        return found.stdout.split()[-1].decode()
    name = _STEPS.sub("", revision)
    steps = revision.removeprefix(name)
    history = _history(name)
    is_shallow = _output("rev-parse", "--is-shallow-repository").strip() == b"true"
    if not history:
        advice = _advice(name, steps, is_shallow=is_shallow)
    elif is_shallow:
        advice = "the clone is shallow; run `git fetch --unshallow`"
    else:
        advice = history if _BEFORE.fullmatch(steps) else ""
    raise GitError(f"git knows no revision {quoted(revision)}{f'; {advice}' if advice else ''}")


def _advice(name: str, steps: str, *, is_shallow: bool) -> str:
    """The branch or tag that was probably meant, in the form that was written, and how to fetch others."""
    refs = _output("for-each-ref", "--format=%(refname)").decode(errors="replace").split()
    full = [it for it in refs if not it.endswith("/HEAD")]
    short = [_KIND.sub("", it, count=1) for it in full]
    bare = _KIND.sub("", name, count=1)
    there = next((it for it in short if it == bare or it.endswith(f"/{bare}")), "")
    forms = {"HEAD", *full, *short, *(it.removeprefix("refs/") for it in full)}
    meant = there or _similar(name, forms)
    advice = f"did you mean {quoted(f'{meant}{steps}')}?" if meant else Names(short).advice(name)
    if there or not is_shallow:
        return advice
    # A shallow clone has only one branch, so more history does not contain the others.
    fetch = f"the clone is shallow; run `{_fetch(name, bare, steps)}`"
    return f"{advice} If not: {fetch}" if meant else fetch


def _similar(name: str, forms: Collection[str]) -> str:
    """The most similar name, or "". A name that begins with a kind or remote is compared only with names that begin alike."""
    parts = name.split("/")
    for end in reversed(range(len(parts))):
        start = "".join(f"{it}/" for it in parts[:end])
        rests = [it.removeprefix(start) for it in forms if it.startswith(start)]
        if rests:
            meant = Names(rests).meant(name.removeprefix(start))
            return f"{start}{meant}" if meant else ""
    return ""


def _fetch(name: str, bare: str, steps: str) -> str:
    """The command that fetches a branch or tag into a shallow clone."""
    if not _NAME.fullmatch(name) or _HASH.fullmatch(name):
        return "git fetch --unshallow"
    depth = "--unshallow" if steps else "--depth 1"
    for remote in _output("remote").decode(errors="replace").split():
        if bare.startswith(f"{remote}/"):
            branch = bare.removeprefix(f"{remote}/")
            return f"git fetch {depth} {remote} {branch}:refs/remotes/{bare}"
    return f"git fetch {depth} origin {bare}:{bare}"


def _history(revision: str) -> str:
    """How many commits a revision has: `HEAD has only 2 commits`; "" if it does not exist."""
    found = _git("rev-list", "--count", "--first-parent", "--end-of-options", revision)
    if found.returncode:
        return ""
    return f"{revision} has only {counted(int(found.stdout), 'commit')}"


@lru_cache(maxsize=2)
def _tree(commit: str) -> _Tree:
    """All files, folders, links and submodules of a commit, which never change. Raises GitError."""
    modes = {"": _FOLDER}
    objects: dict[str, str] = {}
    names: defaultdict[str, list[str]] = defaultdict(list)
    # Without --full-tree, git lists only what is below the current folder.
    for entry in _output("ls-tree", "-r", "-t", "-z", "--full-tree", commit).split(b"\0")[:-1]:
        fields, _, written = entry.partition(b"\t")
        path = written.decode(errors="surrogateescape")
        modes[path], _, sha = fields.split()
        objects[path] = sha.decode()
        folder, _, name = path.rpartition("/")
        names[folder].append(name)
    links = [path for path, mode in modes.items() if mode == _LINK]
    targets = zip(links, _contents([objects[it] for it in links]), strict=True)
    return _Tree(modes, objects, names, dict(targets))


def _walk(tree: _Tree, top: str, endings: tuple[str, ...]) -> Iterator[_GitEntry]:
    """The files that a folder is read with, as `files.read` finds them on disk."""
    visited = {top}
    pending = [_GitEntry("", top, frozenset(visited))]
    while pending:
        found = pending.pop()
        if found.refusal or tree.modes[found.path] != _FOLDER:
            yield found
            continue
        # A stack, so the first entry is added last.
        for below in reversed(list(_entries(tree, found, endings))):
            if below.refusal or tree.modes[below.path] != _FOLDER:
                pending.append(below)
            elif below.path in found.above:
                message = (
                    "this symbolic link points to a folder that contains the link; remove the link"
                )
                pending.append(below._replace(refusal=message))
            elif below.path not in visited:
                visited.add(below.path)
                pending.append(below)


def _entries(tree: _Tree, folder: _GitEntry, endings: tuple[str, ...]) -> Iterator[_GitEntry]:
    """The folders and files with these endings of one folder, and what cannot be read."""
    for entry in sorted(tree.names.get(folder.path, ())):
        if entry.startswith("."):
            continue
        name = posixpath.join(folder.name, entry)
        matches = entry.lower().endswith(endings)
        try:
            path = tree.real(posixpath.join(folder.path, entry))
        except GitError as error:
            if matches or str(error) != _NO_TARGET:
                yield _GitEntry(name, "", refusal=str(error))
            continue
        if matches or tree.modes[path] == _FOLDER:
            yield _GitEntry(name, path, folder.above | {path})


def _sizes(names: Iterable[str]) -> Iterator[tuple[str, int]]:
    """The size in bytes of each object; 0 for one that git does not have."""
    text = "".join(f"{it}\n" for it in names)
    for line in _output("cat-file", "--batch-check", stdin=text).decode().splitlines():
        name, *_, size = line.split(" ")
        yield name, 0 if size == "missing" else int(size)


def _contents(names: Iterable[str]) -> Iterator[tuple[bytes, str]]:
    """The content of each object, or why it is not known."""
    text = _output("cat-file", "--batch", stdin="".join(f"{it}\n" for it in names))
    at = 0
    while at < len(text):
        end = text.index(b"\n", at)
        *_, size = text[at:end].split(b" ")
        at = end + 1
        if size == b"missing":
            yield b"", "git does not have the content of this file; fetch it first"
            continue
        yield text[at : at + int(size)], ""
        at += int(size) + 1


def _output(*arguments: str, stdin: str = "") -> bytes:
    """What git prints. Raises GitError."""
    done = _git(*arguments, stdin=stdin)
    if done.returncode == 0:
        return done.stdout
    reason = done.stderr.decode(errors="replace").strip().partition("\n")[0].removeprefix("fatal: ")
    if reason.startswith("not a git repository"):
        raise GitError("the current folder is not in a git repository; change to the repository")
    raise GitError(f"git cannot read it: {reason}")


def _git(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[bytes]:
    """Run git. Raises GitError if git is missing."""
    try:
        return subprocess.run(  # noqa: S603 - no shell, and options end before what the user writes
            ["git", *arguments],  # noqa: S607 - the git of the user
            input=stdin.encode(errors="surrogateescape"),
            capture_output=True,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except FileNotFoundError:
        raise GitError("git is not installed; install git, or name a file or a folder") from None
