"""The files of a git revision, such as `git:main:platform/spec`.

They are read from the objects of the repository that contains the current folder. Nothing is checked out.
"""

import os
import posixpath
import subprocess
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from policygen.core.quoting import quoted
from policygen.core.suggest import Names

_LINKS = {
    "symlink": "this symbolic link points out of the repository",
    "dangling": "this symbolic link points to a file that does not exist in this revision",
    "loop": "this symbolic link points to itself",
    "notdir": "this symbolic link points into a file",
}
"""What `git cat-file --follow-symlinks` prints about links that it cannot follow."""
_LINK_MODE = b"120000"
_SUBMODULE = b"commit"


class GitError(Exception):
    """A revision, or a path in it, cannot be read; the message is the reason."""


class GitFile(NamedTuple):
    """One file of a revision."""

    name: str
    """Inside the path that was read; "" if the path is a file."""
    data: bytes
    refusal: str = ""
    """Why its content is unknown."""


class _TreeFile(NamedTuple):
    """A file of a folder, before it is read."""

    name: str
    size: int


def read(argument: str, endings: tuple[str, ...], limit: int, too_large: str) -> Iterator[GitFile]:
    """The file, or the files of the folder with these endings, in the order of their names.

    `argument` is `REVISION:PATH`, with a path from the top of the repository, or from the current
    folder if it begins with a dot. Hidden files are skipped. Files above
    `limit`, in bytes, are refused as `too_large`. Raises GitError.
    """
    revision, colon, path = argument.rpartition(":")
    if not colon or not revision or not path or "\n" in path:
        raise GitError("write git:REVISION:PATH, such as git:main:platform/spec")
    here = _output("rev-parse", "--show-prefix").decode(errors="surrogateescape").rstrip("\n")
    commit = _commit(revision)
    start = here if path.startswith(".") else ""
    top = posixpath.normpath(f"{start}{path}").removeprefix("/")
    if top.split("/")[0] == "..":
        raise GitError("this path is outside the repository")
    prefix = "" if top == "." else top
    kind, size = _kind(f"{commit}:{prefix}", path, revision, here)
    is_folder = kind == "tree"
    found = list(_listed(f"{commit}:{prefix}", endings)) if is_folder else [_TreeFile("", size)]
    small = [it.name for it in found if it.size <= limit]
    contents = _contents(f"{commit}:{posixpath.join(prefix, it) if it else prefix}" for it in small)
    known = dict(zip(small, contents, strict=True))
    for it in found:
        yield GitFile(it.name, *known.get(it.name, (b"", too_large)))


def _commit(revision: str) -> str:
    """The commit of a branch, tag or hash. Raises GitError."""
    found = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if found.returncode == 0:
        return found.stdout.split()[-1].decode()
    names = _output("for-each-ref", "--format=%(refname:short)").decode(errors="replace").split()
    remote = next((it for it in names if it.endswith(f"/{revision}")), "")
    advice = f"did you mean {quoted(remote)}?" if remote else Names(names).advice(revision)
    if _output("rev-parse", "--is-shallow-repository").strip() == b"true":
        advice = (
            "the clone is shallow; run `git fetch --unshallow`, or fetch the revision by its name"
        )
    raise GitError(f"git knows no revision {quoted(revision)}{f'; {advice}' if advice else ''}")


def _kind(name: str, path: str, revision: str, here: str) -> tuple[str, int]:
    """`tree` or `blob`, and the size. Raises GitError."""
    head = _output("cat-file", "--batch-check", "--follow-symlinks", stdin=f"{name}\n")
    words = head.partition(b"\n")[0].split(b" ")
    kind = words[-2].decode(errors="replace")
    link = _LINKS.get(words[0].decode(errors="replace"))
    if link and words[0] != b"notdir":
        raise GitError(link)
    if kind not in ("tree", "blob"):
        advice = ""
        if here and not path.startswith("."):
            advice = f"; paths begin at the top of the repository, so write for example ./{path}"
        raise GitError(f"{quoted(path)} does not exist in revision {quoted(revision)}{advice}")
    return kind, int(words[-1])


def _listed(tree: str, endings: tuple[str, ...]) -> Iterator[_TreeFile]:
    """The files of a tree that a folder would be read with, in the order of their names."""
    sha = _output("cat-file", "--batch-check=%(objectname)", "--follow-symlinks", stdin=f"{tree}\n")
    entries = _output("ls-tree", "-r", "-z", "-l", sha.decode().strip()).split(b"\0")[:-1]
    found = []
    for entry in entries:
        fields, _, written = entry.partition(b"\t")
        mode, kind, _, size = fields.split()
        name = written.decode(errors="surrogateescape")
        parts = name.split("/")
        if kind == _SUBMODULE or not name.lower().endswith(endings) or "\n" in name:
            continue
        if not any(it.startswith(".") for it in parts):
            found.append((parts, _TreeFile(name, 0 if mode == _LINK_MODE else int(size))))
    return (it for _, it in sorted(found))


def _contents(names: Iterable[str]) -> Iterator[tuple[bytes, str]]:
    """The content of each file, or why it is not known."""
    text = _output(
        "cat-file", "--batch", "--follow-symlinks", stdin="".join(f"{it}\n" for it in names)
    )
    at = 0
    while at < len(text):
        end = text.index(b"\n", at)
        words = text[at:end].split(b" ")
        at = end + 1
        if words[-1] == b"missing":
            yield b"", "git does not have the content of this file; fetch it first"
            continue
        size = int(words[-1])
        data = text[at : at + size]
        at += size + 1
        if words[0].decode(errors="replace") in _LINKS:
            yield b"", _LINKS[words[0].decode()]
        elif words[-2] != b"blob":
            yield b"", "this symbolic link points to a folder; name the folder itself"
        else:
            yield data, ""


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
