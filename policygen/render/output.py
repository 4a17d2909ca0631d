"""Manifests to a file or a folder, all or nothing, and what differs from what lies there."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from policygen.core import atomic
from policygen.core.errors import UsageError
from policygen.render import destination
from policygen.render.difference import difference
from policygen.render.folder import FILE_NAME, Changes, index, update
from policygen.render.manifest import Manifest

_MADE_BY = b"app.kubernetes.io/managed-by: policygen"


def text(manifests: Sequence[Manifest]) -> str:
    """All documents in one text."""
    return "".join(manifest.text for manifest in manifests)


def write_file(manifests: Sequence[Manifest], path: Path) -> None:
    """All documents into one file, which is the old one or the new one at any moment.

    Its folder is made if need be. Keeps the file's permissions, and the file itself where
    nothing changes. A link is followed; a device or pipe is written into. Raises UsageError
    where that cannot be, and for a file that holds something else.
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
        raise UsageError(f"{path} cannot be written: {atomic.reason(error)}") from None


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
        with _made(folder):
            return update(folder, planned)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {atomic.reason(error)}") from None


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
            for name in sorted(new.keys() | index(target).keys())
        )
    except OSError as error:
        raise UsageError(f"{target} cannot be read: {atomic.reason(error)}") from None


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
        if not FILE_NAME.fullmatch(name):
            raise UsageError(f"{kind} {meta.name!r} cannot be the name of a file; rename it")
        if name in named:
            raise UsageError(f"two objects would both be written to {name}; rename one")
        named[name] = manifest.text
    return named


def _group(manifest: Manifest) -> str:
    return manifest.item.release.api_version.rpartition("/")[0]


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


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
