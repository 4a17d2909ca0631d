"""Builds the missing binaries into a cache that is keyed by each Go module's files."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from .upstream import Binary, Upstream

CACHE_VARIABLE = "POLICYGEN_CONTROLPLANE_CACHE"
BUILD_DEADLINE_S = 3600.0
LOCK_POLL_S = 0.5
LAST_LINES = 30


class BuildError(Exception):
    """A binary could not be built; the message has its name and Go's error."""


@dataclass(frozen=True)
class Built:
    """One upstream in the cache."""

    upstream: Upstream
    folder: Path

    def binary(self, name: str) -> Path:
        return self.folder / "bin" / name

    def asset(self, path: str) -> Path:
        return self.folder / "assets" / path

    @property
    def missing(self) -> list[str]:
        """What is not there yet: binaries by name, assets by path."""
        wanted = [(b.name, self.binary(b.name)) for b in self.upstream.binaries]
        wanted += [(a, self.asset(a)) for a in self.upstream.assets]
        return [name for name, path in wanted if not path.exists()]


def cache_folder() -> Path:
    """The cache: $POLICYGEN_CONTROLPLANE_CACHE, or a folder of the user's cache."""
    if chosen := os.environ.get(CACHE_VARIABLE):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "policygen" / "controlplane"


def located(upstream: Upstream) -> Built:
    """Where this upstream is, or will be. Needs no Go."""
    return Built(upstream, cache_folder() / f"{upstream.folder.name}-{_key(upstream)}")


def build(upstreams: Iterable[Upstream], *, quiet: bool = False) -> dict[str, Built]:
    """Build what is missing, report it on stderr, and return all upstreams by name.

    With `quiet`, cached upstreams are not reported.
    """
    found = {upstream.name: located(upstream) for upstream in upstreams}
    for built in found.values():
        if not built.missing:
            if not quiet:
                _report(f"{_label(built.upstream)}: cached")
            continue
        with _lock(built.folder):
            _build_one(built)
    return found


def _build_one(built: Built) -> None:
    go = shutil.which("go")
    if go is None:
        raise BuildError(
            f"{', '.join(built.missing)} not built yet, and there is no `go` on PATH: "
            "install Go 1.26 or later and run `python -m tests.servers build`"
        )
    missing = built.missing
    for binary in built.upstream.binaries:
        if binary.name in missing:
            _compile(go, built, binary)
    if any(asset in missing for asset in built.upstream.assets):
        _copy_assets(go, built)


def _compile(go: str, built: Built, binary: Binary) -> None:
    target = built.binary(binary.name)
    target.parent.mkdir(parents=True, exist_ok=True)
    label = _label(built.upstream)
    _report(f"{label}: building {binary.name} ...")
    began = time.monotonic()
    with tempfile.TemporaryDirectory(dir=built.folder) as scratch:
        fresh = Path(scratch) / binary.name
        _go(
            [
                go,
                "build",
                f"-tags={built.upstream.tags}",
                "-ldflags",
                built.upstream.ldflags,
                "-o",
                str(fresh),
                binary.package,
            ],
            built,
            binary.name,
        )
        size = fresh.stat().st_size
        fresh.replace(target)
    _report(f"{label}: built {binary.name}, {size >> 20} MB, {time.monotonic() - began:.0f} s")


def _copy_assets(go: str, built: Built) -> None:
    module = f"{built.upstream.module}@{built.upstream.version}"
    source = Path(json.loads(_go([go, "mod", "download", "-json", module], built, "assets"))["Dir"])
    for asset in built.upstream.assets:
        target = built.asset(asset)
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=built.folder) as scratch:
            fresh = Path(scratch) / "asset"
            if (source / asset).is_dir():
                shutil.copytree(source / asset, fresh, copy_function=shutil.copyfile)
                for folder in (fresh, *(p for p in fresh.rglob("*") if p.is_dir())):
                    folder.chmod(0o755)  # the module cache is read-only
            else:
                shutil.copyfile(source / asset, fresh)
            if not target.exists():
                fresh.replace(target)
    _report(f"{built.upstream.name}: copied {len(built.upstream.assets)} assets")


def _go(command: list[str], built: Built, what: str) -> str:
    environment = {**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off"}
    with subprocess.Popen(
        command,
        cwd=built.upstream.folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a group of its own: the compilers end with it
    ) as go:
        try:
            out, said = go.communicate(timeout=BUILD_DEADLINE_S)
        except BaseException as error:
            os.killpg(go.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                raise BuildError(f"{what}: not built after {BUILD_DEADLINE_S:.0f} s") from error
            raise
    if go.returncode != 0:
        tail = "\n".join(said.splitlines()[-LAST_LINES:])
        raise BuildError(f"{what}: go exited with {go.returncode}\n{tail}")
    return out


def _key(upstream: Upstream) -> str:
    digest = hashlib.sha256()
    for path in sorted(upstream.folder.iterdir()):
        if path.name in {"go.mod", "go.sum"} or path.suffix == ".go":
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    for binary in upstream.binaries:
        if binary.package.startswith("./"):
            for path in sorted((upstream.folder / binary.package).iterdir()):
                digest.update(path.read_bytes())
    recipe = (upstream.binaries, upstream.assets, upstream.ldflags)
    digest.update(repr(recipe).encode() + upstream.tags.encode())
    return digest.hexdigest()[:12]


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Only one builds here at a time; the lock goes with its process."""
    folder.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + BUILD_DEADLINE_S
    with (folder / "lock").open("w") as handle:
        while not _taken(handle):
            if time.monotonic() > end:
                raise BuildError(f"{folder}: another build has not ended")
            time.sleep(LOCK_POLL_S)
        yield


def _taken(handle: IO[str]) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _label(upstream: Upstream) -> str:
    return f"{upstream.name} {upstream.version}".strip()


def _report(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
