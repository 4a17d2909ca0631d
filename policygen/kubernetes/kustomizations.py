"""Finds files of kustomize among manifests: kustomizations, and patches, which are not objects.

Source: sigs.k8s.io/kustomize/api/types, Kustomization.
"""

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from policygen.core.quoting import some
from policygen.documents.document import Document
from policygen.kubernetes.untyped import mappings, texts

_GROUP = "kustomize.config.k8s.io/"
_NAMES = ("kustomization.yaml", "kustomization.yml")
_OF_A_LIST = ("apiVersion", "kind", "metadata", "resources")
"""The fields of a kustomization that only lists files."""
_MAX_NAMES = 3
"""The most fields or resources that a note names."""


class Unbuilt(NamedTuple):
    """A kustomization whose build has other objects than its files."""

    folder: str
    """For `kustomize build`."""
    effect: str
    """What policygen did not do, as the end of a sentence."""


def is_one(document: Document) -> bool:
    """Whether a document is a kustomization."""
    header = document.header
    if header.kind is None and posixpath.basename(document.source.name) in _NAMES:
        return True
    return header.api_version is not None and header.api_version.startswith(_GROUP)


def folder(document: Document) -> str:
    """The folder of a kustomization, for `kustomize build`."""
    return posixpath.dirname(document.source.name) or "."


def unbuilt(
    builds: Sequence[Document], documents: Sequence[Document], checked: Sequence[Document]
) -> list[Unbuilt]:
    """The kustomizations whose build has other objects than the checked documents."""
    given = {_name(it) for it in documents}
    folders = {posixpath.dirname(it) or "." for it in given}
    skipped = {_name(it) for it in documents if not is_one(it)} - {_name(it) for it in checked}
    found = []
    for build in builds:
        own = posixpath.normpath(folder(build))
        patches = {*_joined(build, _patches(build.data))}
        fields = (
            [it for it in build.data if it not in _OF_A_LIST]
            if isinstance(build.data, dict)
            else []
        )
        resources = list(texts(build.data, "resources"))
        missing = [
            it
            for it, path in zip(resources, _joined(build, resources), strict=True)
            if path not in given and not any(f"{each}/".startswith(f"{path}/") for each in folders)
        ]
        beside = any(it in patches or (posixpath.dirname(it) or ".") == own for it in skipped)
        if beside and (fields or missing):
            effect = "it skipped files that the field resources does not list"
        elif fields:
            effect = f"it ignored {some(fields, 'other field', _MAX_NAMES)}"
        elif missing:
            effect = f"it did not check {some(missing, 'other resource', _MAX_NAMES)}"
        else:
            continue
        found.append(Unbuilt(folder(build), effect))
    return found


def others(builds: Sequence[Document], documents: Sequence[Document]) -> list[Document]:
    """The documents that are checked beside kustomizations.

    Not checked are patches, which are not complete objects, and files beside a kustomization that
    it does not name, because no build reads them.
    """
    named: set[str] = set()
    patches: set[str] = set()
    folders = set()
    for build in builds:
        folders.add(posixpath.normpath(folder(build)))
        named.update(_joined(build, texts(build.data, "resources")))
        patches.update(_joined(build, _patches(build.data)))
    beside = {it for it in map(_name, documents) if (posixpath.dirname(it) or ".") in folders}
    skipped = patches | (beside - named)
    return [it for it in documents if not is_one(it) and _name(it) not in skipped]


def unlisted(
    builds: Sequence[Document], documents: Sequence[Document]
) -> Mapping[str, Sequence[str]]:
    """The files of objects in the folders of kustomizations that no kustomization names, by folder."""
    named = {it for build in builds for it in _joined(build, _words(build.data))}
    found: dict[str, dict[str, None]] = {folder(build): {} for build in builds}
    for it in documents:
        beside = found.get(folder(it))
        if beside is None or is_one(it) or not (it.header.api_version and it.header.kind):
            continue
        if isinstance(it.data, dict) and "metadata" in it.data and _name(it) not in named:
            beside[it.source.name] = None
    return {path: list(names) for path, names in found.items() if names}


def _words(data: Any) -> Iterator[str]:
    """All texts of a kustomization; a generator names a file as `key=path`."""
    if isinstance(data, str):
        yield data
        yield data.rpartition("=")[2]
    elif isinstance(data, dict | list):
        for it in data.values() if isinstance(data, dict) else data:
            yield from _words(it)


def _name(document: Document) -> str:
    return posixpath.normpath(document.source.name)


def _joined(document: Document, paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        yield posixpath.normpath(posixpath.join(folder(document), path))


def _patches(data: Any) -> Iterator[str]:
    for field in ("patches", "patchesJson6902", "replacements"):
        for patch in mappings(data, field):
            if isinstance(patch.get("path"), str):
                yield patch["path"]
    yield from (it for it in texts(data, "patchesStrategicMerge") if "\n" not in it)
