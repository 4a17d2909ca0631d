"""The output folder: writes all files or no file, and never changes files of other tools."""

import fcntl
import hashlib
import json
import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from msgspec import Struct

from policygen.core import atomic
from policygen.core.errors import UsageError
from policygen.core.finding import At
from policygen.core.quoting import counted
from policygen.documents.parse import mapping
from policygen.drift.strangers import QUEUES, has_teams, strangers, unconnected
from policygen.kubernetes.object import Object

INDEX = ".policygen.index"
"""In an output folder: the files that policygen wrote there, and their digests.

Not `.json`, since `kubectl apply -f FOLDER` and Argo CD read each such file as a manifest.
"""

_FORMER_INDEX = ".policygen.json"

_LOCK = ".policygen.lock"
_STAGING = ".policygen.staging"
_ABOUT = (
    "Files that policygen wrote here; it replaces and removes only these, if nobody edited them"
)
FILE_NAME = re.compile(r"[a-z0-9][^/\x00-\x1f\x7f]*\.yaml")

_SET = re.compile(rb"^    policygen\.dev/set: (.+)$", re.MULTILINE)

_EMPTY = hashlib.sha256().hexdigest()
"""A power failure can leave an empty file; overwriting it loses nothing."""


class Changes(Struct, frozen=True):
    """The number of files that a run wrote, removed, and did not need to change."""

    written: int
    removed: int
    unchanged: int


def update(folder: Path, planned: Mapping[str, bytes]) -> Changes:
    """Write these files into an existing folder, and remove other files of an earlier run.

    Raises OSError, and UsageError as `output.write_folder` does.
    """
    with _locked(folder):
        return _Update(folder, planned).run()


def refuse_other_spec(folder: Path, planned: Mapping[str, bytes]) -> None:
    """Raise UsageError if an update would remove files of another set or spec."""
    _Update(folder, planned).refuse_other_spec()


def index(folder: Path) -> dict[str, list[str]]:
    """The digests that each file may have; there are two during a run.

    Raises OSError, and UsageError for a damaged index.
    """
    path = folder / INDEX
    if not path.exists() and (folder / _FORMER_INDEX).exists():
        path = folder / _FORMER_INDEX
    try:
        read = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError:
        read = None
    files = read.get("files") if isinstance(read, dict) and read.get("version") == 1 else None
    if not isinstance(files, dict) or not all(
        FILE_NAME.fullmatch(name) and isinstance(digests, list) for name, digests in files.items()
    ):
        raise UsageError(
            f"{path} is damaged, or was written by another version of policygen; restore the "
            "file, or render into another folder"
        )
    return files


_QUEUES = tuple(f"{kind.lower()}." for kind in sorted(QUEUES))


class _Update:
    """One run over one folder, under its lock."""

    def __init__(self, folder: Path, planned: Mapping[str, bytes]) -> None:
        self.folder = folder
        self.staging = folder / _STAGING
        self.planned = planned
        self.new = {name: _digest(data) for name, data in planned.items()}
        self.index = index(folder)
        self.old = {name: _on_disk(folder / name) for name in self.new.keys() | self.index.keys()}
        self.changed = [name for name in sorted(self.new) if self.old[name] != self.new[name]]
        self.removed = sorted(
            name for name, digest in self.old.items() if digest and name not in self.new
        )

    def run(self) -> Changes:
        self._refuse_foreign()
        self.refuse_other_spec()
        final = {name: [digest] for name, digest in self.new.items()}
        shutil.rmtree(self.staging, ignore_errors=True)  # of a run that was killed
        is_former = (self.folder / _FORMER_INDEX).exists()
        if self.changed or self.removed or is_former or final != self.index:
            try:
                self._apply(final)
            finally:
                shutil.rmtree(self.staging, ignore_errors=True)
        unchanged = len(self.new) - len(self.changed)
        return Changes(len(self.changed), len(self.removed), unchanged)

    def _refuse_foreign(self) -> None:
        faults = []
        for name, digest in sorted(self.old.items()):
            if digest is None or digest in self.index.get(name, ()):
                continue
            if name not in self.index:
                faults.append(f"{name} was not written by policygen")
            elif digest != _EMPTY:
                faults.append(f"{name} was edited after policygen wrote it")
        if faults:
            raise UsageError(
                f"nothing was written to {self.folder}: {', '.join(faults)}; move these files "
                "away, or render into another folder"
            )

    def refuse_other_spec(self) -> None:
        """Refuse to remove files of another set or spec: the folder is then probably the wrong one."""
        own = {match[1] for data in self.planned.values() for match in _SET.finditer(data)}
        for name in self.removed:
            match = _SET.search((self.folder / name).read_bytes())
            if match and own and match[1] not in own:
                raise UsageError(
                    f"{self.folder} contains files of the set {match[1].decode(errors='replace')} "
                    "(label policygen.dev/set), but this spec renders the set "
                    f"{b', '.join(sorted(own)).decode()}; render into another folder, or delete "
                    "this folder"
                )
        is_whole = all(digests == [self.old[name]] for name, digests in self.index.items())
        if not (self.removed and self.new and is_whole):
            return
        common = self.index.keys() & self.new.keys()
        there = _objects(self.planned[name] for name in common)
        if has_teams(there):
            return  # an earlier state of this spec
        has_queue = any(name.startswith(_QUEUES) for name in common)
        mine = _objects(self.planned.values())
        before = _objects((self.folder / name).read_bytes() for name in self.removed)
        is_all = not has_queue and len(unconnected(mine, before)) == len(before)
        if is_all or strangers(mine, before, there):
            raise UsageError(
                f"{self.folder} contains only files of teams that this spec does not have, such as "
                f"{self.removed[0]}, so another spec with the same name of its set probably rendered them; render "
                "into another folder, or delete this folder if this spec replaces the other one"
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
                f"writing to {self.folder} stopped: {atomic.reason(error)}; {left} of "
                f"{counted(len(self.changed), 'file')} must still be written, and no file is "
                "incomplete; run the command again to finish"
            ) from None

    def _write_index(self, files: Mapping[str, list[str]]) -> None:
        staged = self.staging / INDEX
        written = {"about": _ABOUT, "version": 1, "files": dict(sorted(files.items()))}
        with staged.open("w", encoding="utf-8") as file:
            file.write(json.dumps(written, indent=1) + "\n")
            file.flush()
            os.fsync(file.fileno())
        staged.replace(self.folder / INDEX)
        (self.folder / _FORMER_INDEX).unlink(missing_ok=True)


def _objects(texts: Iterable[bytes]) -> list[Object]:
    """The objects of files that policygen wrote."""
    data = (mapping(text.decode()) for text in texts)
    found = (Object.read(it, At(0)) for it in data if it)
    return [it for it in found if it is not None]


def _on_disk(path: Path) -> str | None:
    """The digest of a file; None if it does not exist; a text that is not a digest if not a file."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return None
    return _digest(path.read_bytes()) if stat.S_ISREG(mode) else "not a file"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock the folder against other runs. The lock ends when the process ends, in any way."""
    path = folder / _LOCK
    while True:
        with path.open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UsageError(
                    f"another policygen is writing to {folder}; wait until it has finished, then "
                    "run the command again"
                ) from None
            if not _is_at(file, path):
                continue  # the previous run deleted the file after this one opened it
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
