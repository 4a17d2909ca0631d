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


def is_one(each: Document) -> bool:
    """Whether a document is a kustomization."""
    group = (each.header.api_version or "").rpartition("/")[0]
    named = posixpath.basename(each.source.name) in _NAMES
    return group == _GROUP or (named and each.header.kind is None)


def folder(each: Document) -> str:
    """The folder of a kustomization, for `kustomize build`."""
    return posixpath.dirname(each.source.name) or "."


def skipped(documents: Sequence[Document]) -> frozenset[str]:
    """The names of the sources whose documents are not checked.

    These are patches, which are not complete objects, and files beside a kustomization that it
    does not name, because no build reads them.
    """
    named: set[str] = set()
    patches: set[str] = set()
    folders = set()
    for each in documents:
        if is_one(each):
            folders.add(posixpath.normpath(folder(each)))
            named.update(_joined(each, texts(each.data, "resources")))
            patches.update(_joined(each, _patches(each.data)))
    beside = {name for name in map(_name, documents) if posixpath.dirname(name) in folders}
    return frozenset(patches | (beside - named))


def is_among(each: Document, sources: frozenset[str]) -> bool:
    """Whether a document is in one of these sources."""
    return bool(sources) and _name(each) in sources


def _name(each: Document) -> str:
    return posixpath.normpath(each.source.name)


def _joined(each: Document, paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        yield posixpath.normpath(posixpath.join(folder(each), path))


def _patches(data: Any) -> Iterator[str]:
    for field in ("patches", "patchesJson6902", "replacements"):
        for each in mappings(data, field):
            if isinstance(each.get("path"), str):
                yield each["path"]
    yield from (it for it in texts(data, "patchesStrategicMerge") if "\n" not in it)
