"""Reads many files in two processes, before their documents are loaded one after the other."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import msgspec

from policygen.core import processes
from policygen.documents import parse
from policygen.documents.files import Source
from policygen.documents.parsed import FastDocument

MANY = 2_000_000
"""Characters for which a second process pays. It takes 30 ms, and the parser 80 ms for each 1,000,000 of YAML."""

FastDocuments = list[FastDocument] | None
"""The documents of a source; None for a source that `document.load` must read itself."""


@contextmanager
def begun(sources: Sequence[Source]) -> Iterator[Callable[[], Iterable[FastDocuments]]]:
    """Start to read the sources, for a block. Yields a function that returns the documents of each.

    `document.load` reads sources of which a document needs the full parse, and all sources if there
    is little text.
    """
    if sum(len(it.text) for it in sources) < MANY or not processes.usable():
        yield lambda: [None] * len(sources)
        return
    with processes.begun(found, sources, dumped, loaded, in_order=True) as documents:
        yield documents


def found(source: Source) -> FastDocuments:
    """The documents of one source."""
    return parse.fast_documents(source.text, json=parse.is_json(source.name, source.text))


def dumped(documents: FastDocuments) -> bytes:
    """The documents as bytes; None if bytes cannot have all of their values."""
    try:
        return msgspec.msgpack.encode(documents)
    except OverflowError:  # an integer of more than 64 bits
        return msgspec.msgpack.encode(None)


def loaded(data: bytes) -> FastDocuments:
    """What was dumped."""
    return _DECODER.decode(data)


_DECODER: msgspec.msgpack.Decoder[FastDocuments] = msgspec.msgpack.Decoder(FastDocuments)
