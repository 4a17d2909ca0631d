"""Finds files of kustomize among manifests: kustomizations, and patches, which are not objects.

Source: sigs.k8s.io/kustomize/api/types, Kustomization.
"""

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from policygen.documents.document import Document
from policygen.kubernetes.untyped import mappings, texts

_GROUP = "kustomize.config.k8s.io"
_NAMES = ("kustomization.yaml", "kustomization.yml")


def is_one(document: Document) -> bool:
    """Whether a document is a kustomization."""
    header = document.header
    if header.kind is None and posixpath.basename(document.source.name) in _NAMES:
        return True
    return header.api_version is not None and header.api_version.startswith(f"{_GROUP}/")


def folder(document: Document) -> str:
    """The folder of a kustomization, for `kustomize build`."""
    return posixpath.dirname(document.source.name) or "."


def skipped(documents: Sequence[Document]) -> frozenset[str]:
    """The names of the sources whose documents are not checked.

    These are patches, which are not complete objects, and files beside a kustomization that it
    does not name, because no build reads them.
    """
    named: set[str] = set()
    patches: set[str] = set()
    folders = set()
    for document in documents:
        if is_one(document):
            folders.add(posixpath.normpath(folder(document)))
            named.update(_joined(document, texts(document.data, "resources")))
            patches.update(_joined(document, _patches(document.data)))
    names = map(_name, documents) if folders else ()
    beside = {name for name in names if posixpath.dirname(name) in folders}
    return frozenset(patches | (beside - named))


def is_among(document: Document, sources: frozenset[str]) -> bool:
    """Whether a document is in one of these sources."""
    return bool(sources) and _name(document) in sources


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
