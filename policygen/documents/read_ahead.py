"""Reads many YAML files in two processes, before their documents are loaded one after the other."""

from collections.abc import Sequence

import msgspec

from policygen.core import processes
from policygen.documents import parse
from policygen.documents.files import Source
from policygen.documents.parsed import FastDocument

MANY = 2_000_000
"""Characters of YAML for which a second process pays. It takes 30 ms, and the parser 150 ms for each 1,000,000."""

_Found = list[FastDocument] | None


def fast_documents(sources: Sequence[Source]) -> list[_Found]:
    """The documents of each source; None for a source that `document.load` must read itself.

    These are sources of which a document needs the full parse, JSON, and all sources if there are
    few.
    """
    characters = sum(len(it.text) for it in sources if not _is_json(it))
    if characters < MANY or not processes.usable():
        return [None] * len(sources)
    return processes.mapped(found, sources, dumped, loaded)


def found(source: Source) -> _Found:
    """The documents of one source."""
    return None if _is_json(source) else parse.fast_documents(source.text)


def _is_json(source: Source) -> bool:
    return source.name.lower().endswith(".json") or parse.looks_like_json(source.text)


def dumped(documents: _Found) -> bytes:
    """The documents as bytes; None if bytes cannot have all of their values."""
    try:
        return msgspec.msgpack.encode(documents)
    except OverflowError:  # an integer of more than 64 bits
        return msgspec.msgpack.encode(None)


def loaded(data: bytes) -> _Found:
    """What was dumped."""
    return _DECODER.decode(data)


_DECODER: msgspec.msgpack.Decoder[_Found] = msgspec.msgpack.Decoder(_Found)
