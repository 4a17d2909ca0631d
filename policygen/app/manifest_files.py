"""The files of manifests, which a second process can start to read before the rules are imported."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO

from msgspec import Struct

from policygen.core.finding import Finding
from policygen.documents import files, read_ahead
from policygen.documents.files import Source
from policygen.documents.read_ahead import FastDocuments


class ManifestFiles(Struct, frozen=True):
    """The files that were named, or are in named folders."""

    sources: Sequence[Source]
    unreadable: Sequence[Finding] = ()
    """Why some of the paths could not be read."""
    documents: Callable[[], Iterable[FastDocuments]] | None = None
    """Returns the documents of each source, if they are read ahead."""


@contextmanager
def opened(paths: Sequence[str], stdin: BinaryIO | None = None) -> Iterator[ManifestFiles]:
    """The files of these paths. During the block, their documents are read ahead."""
    sources, unreadable = files.read(paths, stdin=stdin)
    with read_ahead.begun(sources) as documents:
        yield ManifestFiles(sources, unreadable, documents)
