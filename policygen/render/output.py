"""Manifests to a file or a folder, all or nothing, and what differs from what lies there."""

import errno
import fcntl
import hashlib
import json
import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from policygen import atomic
from policygen.errors import UsageError
from policygen.render import destination
from policygen.render.difference import difference
from policygen.render.manifest import Manifest

INDEX = ".policygen.json"
"""In an output folder: the files that policygen wrote there, and their digests."""

_LOCK = ".policygen.lock"
_STAGING = ".policygen.staging"
_ABOUT = (
    "Files that policygen wrote here; it replaces and removes only these, if nobody edited them"
)
_FILE_NAME = re.compile(r"[a-z0-9][^/\x00-\x1f\x7f]*\.yaml")

_MADE_BY = b"app.kubernetes.io/managed-by: policygen"
_SET = re.compile(rb"^    policygen\.dev/set: (.+)$", re.MULTILINE)

_EMPTY = hashlib.sha256().hexdigest()
# What a machine that lost power may leave of a file; nothing in it is lost by writing it again.


@dataclass(frozen=True, slots=True)
class Changes:
    """How many files a run wrote, removed, and found as they should be."""

    written: int
    removed: int
    unchanged: int


def text(manifests: Sequence[Manifest]) -> str:
    """All documents in one text."""
    return "".join(manifest.text for manifest in manifests)


def write_file(manifests: Sequence[Manifest], path: Path) -> None:
    """All documents into one file, which is the old one or the new one at any moment.

    Its folder is made if need be. Keeps the file's permissions, and the file itself where nothing changes. A link is
    followed; a device or pipe is written into. Raises UsageError where that cannot be, and
    for a file that holds something else.
    """
    data = text(manifests).encode()
    try:
        target = path.resolve()
        _refuse_folder(path)
        if target.exists() and not target.is_file():
            atomic.write(target, data)
        elif not target.exists():
            with _made(target.parent):
                atomic.write(target, data)
        elif (old := target.read_bytes()) != data:
            if old.strip() and _MADE_BY not in old:
                raise UsageError(
                    f"{path} was not written by policygen; move it away, or write elsewhere"
                )
            atomic.write(target, data)
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
        raise UsageError(f"{path} cannot be written: {_reason(error)}") from None


def write_folder(manifests: Sequence[Manifest], folder: Path) -> Changes:
    """One file an object, `<kind>.<namespace>.<name>.yaml`; the folder is made if need be.

    Files of an earlier run whose object is gone are removed, others are never touched. All
    is staged first and then renamed file by file, so that no file is ever half written; the
    index says beforehand what each file is and will be, so that a run that was killed at any
    point is finished by the next one.

    Raises UsageError before anything is changed where a file to be replaced or removed was
    edited since, or was not written by policygen (all are named), where another run is
    writing to the folder, and where it cannot be written at all.
    """
    planned = {name: content.encode() for name, content in _named(manifests).items()}
    _refuse_file(folder)
    try:
        with _made(folder), _locked(folder):
            return _Update(folder, planned).run()
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {_reason(error)}") from None


def check(manifests: Sequence[Manifest], target: Path) -> str:
    """What writing to the file or folder would change, as a unified diff; "" if nothing.

    Raises UsageError where it cannot be read, and where writing would refuse it for being
    the other of the two.
    """
    try:
        if destination.is_file(target):
            _refuse_folder(target)
            return difference(str(target).lstrip("/"), _content(target), text(manifests))
        _refuse_file(target)
        new = _named(manifests)
        return "".join(
            difference(name, _content(target / name), new.get(name))
            for name in sorted(new.keys() | _index(target).keys())
        )
    except OSError as error:
        raise UsageError(f"{target} cannot be read: {_reason(error)}") from None


def _refuse_folder(path: Path) -> None:
    if path.is_dir():
        raise UsageError(f"{path} is a folder; a single file is a name that does not exist yet")


def _refuse_file(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path} is a file; write a folder, or a name that ends in .yaml")


def _named(manifests: Sequence[Manifest]) -> dict[str, str]:
    """Texts by file name. A kind that two API groups have carries its group."""
    groups: dict[str, set[str]] = {}
    for manifest in manifests:
        groups.setdefault(manifest.item.kind.name, set()).add(_group(manifest))
    named: dict[str, str] = {}
    for manifest in manifests:
        kind, meta = manifest.item.kind.name, manifest.item.meta
        group = _group(manifest) if len(groups[kind]) > 1 else ""
        parts = (kind.lower(), group, meta.namespace, meta.name, "yaml")
        name = ".".join(part for part in parts if part)
        if not _FILE_NAME.fullmatch(name):
            raise UsageError(f"{kind} {meta.name!r} cannot be the name of a file; rename it")
        if name in named:
            raise UsageError(f"two objects would both be written to {name}; rename one")
        named[name] = manifest.text
    return named


def _group(manifest: Manifest) -> str:
    return manifest.item.release.api_version.rpartition("/")[0]


class _Update:
    """One run over one folder, under its lock."""

    def __init__(self, folder: Path, planned: Mapping[str, bytes]) -> None:
        self.folder = folder
        self.staging = folder / _STAGING
        self.planned = planned
        self.new = {name: _digest(data) for name, data in planned.items()}
        self.index = _index(folder)
        self.old = {name: _on_disk(folder / name) for name in self.new.keys() | self.index.keys()}
        self.changed = [name for name in sorted(self.new) if self.old[name] != self.new[name]]
        self.removed = sorted(
            name for name, digest in self.old.items() if digest and name not in self.new
        )

    def run(self) -> Changes:
        self._refuse_foreign()
        self._refuse_other_sets()
        final = {name: [digest] for name, digest in self.new.items()}
        shutil.rmtree(self.staging, ignore_errors=True)  # of a run that was killed
        if self.changed or self.removed or final != self.index:
            try:
                self._apply(final)
            finally:
                shutil.rmtree(self.staging, ignore_errors=True)
        unchanged = len(self.new) - len(self.changed)
        return Changes(len(self.changed), len(self.removed), unchanged)

    def _refuse_foreign(self) -> None:
        said = []
        for name, digest in sorted(self.old.items()):
            if digest is None or digest in self.index.get(name, ()):
                continue
            if name not in self.index:
                said.append(f"{name} was not written by policygen")
            elif digest != _EMPTY:
                said.append(f"{name} was edited since policygen wrote it")
        if said:
            raise UsageError(
                f"nothing was written to {self.folder}: {', '.join(said)}; move such files away, "
                "or render into another folder"
            )

    def _refuse_other_sets(self) -> None:
        """Another set's folder is no old version of this one's: emptying it is never meant."""
        own = {match[1] for data in self.planned.values() for match in _SET.finditer(data)}
        for name in self.removed:
            match = _SET.search((self.folder / name).read_bytes())
            if match and own and match[1] not in own:
                raise UsageError(
                    f"{self.folder} holds the set {match[1].decode(errors='replace')}, and this "
                    f"is {b', '.join(sorted(own)).decode()}; render into another folder, or "
                    "delete this one"
                )

    def _apply(self, final: dict[str, list[str]]) -> None:
        self.staging.mkdir()
        for name in self.changed:
            atomic.stage(self.staging / name, self.planned[name], self.folder / name)
        self._write_index(
            {
                name: sorted({digest for digest in (old, self.new.get(name)) if digest})
                for name, old in self.old.items()
            }
        )
        try:
            for name in self.changed:
                (self.staging / name).replace(self.folder / name)
            for name in self.removed:
                (self.folder / name).unlink()
            self._write_index(final)
        except OSError as error:
            left = sum((self.staging / name).exists() for name in self.changed)
            raise UsageError(
                f"{self.folder} could not be finished: {_reason(error)}; {left} of "
                f"{len(self.changed)} files are still old, none is half written; run again to "
                "finish"
            ) from None

    def _write_index(self, files: Mapping[str, list[str]]) -> None:
        staged = self.staging / INDEX
        written = {"about": _ABOUT, "version": 1, "files": dict(sorted(files.items()))}
        with staged.open("w", encoding="utf-8") as file:
            file.write(json.dumps(written, indent=1) + "\n")
            file.flush()
            os.fsync(file.fileno())
        staged.replace(self.folder / INDEX)


def _index(folder: Path) -> dict[str, list[str]]:
    """The digests that each file may have; two while a run is under way."""
    path = folder / INDEX
    try:
        read = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError:
        read = None
    files = read.get("files") if isinstance(read, dict) and read.get("version") == 1 else None
    if not isinstance(files, dict) or not all(
        _FILE_NAME.fullmatch(name) and isinstance(digests, list) for name, digests in files.items()
    ):
        raise UsageError(
            f"{path} is damaged or of another version of policygen; restore it, or render into "
            "another folder"
        )
    return files


def _on_disk(path: Path) -> str | None:
    """The digest of a file, None where there is nothing, and no digest at all for other things."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return None
    return _digest(path.read_bytes()) if stat.S_ISREG(mode) else "not a file"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """Make a folder and those around it; what was made goes again if nothing came into it."""
    missing = []
    for each in (folder, *folder.parents):
        if each.is_dir():
            break
        missing.append(each)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for each in missing:
            with suppress(OSError):  # of another run, or with something in it
                each.rmdir()
        raise


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep other runs out of the folder; the lock ends with the process, however that ends."""
    path = folder / _LOCK
    while True:
        with path.open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UsageError(
                    f"another policygen is writing to {folder}; run again when it has ended"
                ) from None
            if not _is_at(file, path):
                continue  # the run before us took the file away after we had opened it
            try:
                yield
            finally:
                path.unlink(missing_ok=True)
            return


def _is_at(file: IO[str], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _reason(error: OSError | RuntimeError) -> str:
    if isinstance(error, FileExistsError):  # where a folder should be made
        return os.strerror(errno.ENOTDIR)
    return getattr(error, "strerror", None) or str(error)
