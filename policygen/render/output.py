"""Writes manifests to a file or a folder, completely or not at all, and compares them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from policygen.core import atomic
from policygen.core.errors import UsageError
from policygen.render import destination
from policygen.render.difference import difference
from policygen.render.folder import FILE_NAME, Changes, index, refuse_other_spec, update
from policygen.render.manifest import Manifest
from policygen.render.scalar import encode

_KUSTOMIZATION = "kustomization.yaml"
_HEAD = """\
---
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
"""
_MADE_BY = b"app.kubernetes.io/managed-by: policygen"


def text(manifests: Sequence[Manifest]) -> str:
    """All documents in one text."""
    return "".join(manifest.text for manifest in manifests)


def write_file(manifests: Sequence[Manifest], path: Path) -> None:
    """Write all documents to one file, atomically.

    Creates its folder if necessary. Keeps the permissions of the file, and does not write it if
    nothing changes. Follows a link, and writes into a device or pipe. Raises UsageError if the
    file cannot be written, or was not written by policygen.
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
                    f"{path} was not written by policygen; move the file away, or write to "
                    "another path"
                )
            atomic.write(target, data)
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
        raise UsageError(f"{path} cannot be written: {atomic.reason(error)}") from None


def write_folder(
    manifests: Sequence[Manifest], folder: Path, *, kustomization: bool = False
) -> Changes:
    """Write one file per object, `<kind>.<namespace>.<name>.yaml`; create the folder if necessary.

    With `kustomization`, a kustomization.yaml lists these files in apply order.

    Removes files of an earlier run whose object is gone, and never changes other files. All
    files are staged first and then renamed one by one, so that every file is always complete.
    The index is written first, with the old and the new digest of each file. So the next run can
    finish a run that was killed at any point.

    Raises UsageError before it changes anything, in these cases: a file to replace or remove was
    edited, or was not written by policygen (the message names all of them); another run is writing
    to the folder; the folder cannot be written.
    """
    planned = {name: content.encode() for name, content in _files(manifests, kustomization).items()}
    _refuse_file(folder)
    try:
        with _made(folder):
            return update(folder, planned)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {atomic.reason(error)}") from None


def check(manifests: Sequence[Manifest], target: Path, *, kustomization: bool = False) -> str:
    """The changes that writing to the file or folder would make, as a unified diff, or "".

    Raises UsageError if the target cannot be read, has the files of another spec, or is a folder instead of
    a file or the reverse.
    """
    try:
        if destination.is_file(target):
            _refuse_folder(target)
            return difference(str(target).lstrip("/"), _content(target), text(manifests))
        _refuse_file(target)
        new = _files(manifests, kustomization)
        refuse_other_spec(target, {name: content.encode() for name, content in new.items()})
        return "".join(
            difference(name, _content(target / name), new.get(name))
            for name in sorted(new.keys() | index(target).keys())
        )
    except OSError as error:
        raise UsageError(f"{target} cannot be read: {atomic.reason(error)}") from None


def _refuse_folder(path: Path) -> None:
    if path.is_dir():
        raise UsageError(
            f"{path} is a folder, but a name that ends in .yaml must be a file; name another path"
        )


def _refuse_file(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path} is a file; name a folder, or a file that ends in .yaml")


def _files(manifests: Sequence[Manifest], kustomization: bool) -> dict[str, str]:
    """Texts by file name."""
    named = _named(manifests)
    if kustomization:
        named[_KUSTOMIZATION] = _HEAD + "".join(f"  - {encode(name)}\n" for name in named)
    return named


def _named(manifests: Sequence[Manifest]) -> dict[str, str]:
    """Texts by file name. If two API groups have the same kind, the name contains the group."""
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
            raise UsageError(
                f"the name of {kind} {meta.name!r} cannot be a file name; rename the object"
            )
        if name in named:
            raise UsageError(
                f"two objects would both be written to {name}; rename one of the objects"
            )
        named[name] = manifest.text
    return named


def _group(manifest: Manifest) -> str:
    return manifest.item.release.api_version.rpartition("/")[0]


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """Create a folder and its parents. After an error, remove those that are still empty."""
    missing = []
    for parent in (folder, *folder.parents):
        if parent.is_dir():
            break
        missing.append(parent)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for parent in missing:
            with suppress(OSError):  # another run uses it, or it is not empty
                parent.rmdir()
        raise


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
