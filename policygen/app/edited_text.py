"""A text with edits of its documents, if it parses to exactly what the edits mean."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from policygen.core.finding import Edit, Verb
from policygen.documents.document import Document
from policygen.documents.edit.apply import EditError, applied, same
from policygen.documents.edit.comments import comments
from policygen.documents.edit.splice import Splice, spliced
from policygen.documents.files import Source
from policygen.kubernetes import manifests


def edited_text(
    source: Source,
    documents: Sequence[Document],
    parts: Iterable[Splice],
    edits: Mapping[int, Sequence[Edit]],
) -> str | None:
    """The text of a source with changed parts; None if it does not parse to the intended content.

    `documents` are all in the source, and those in texts inside it; `edits` are by index of a document. All
    comments stay.
    """
    text = spliced(source.text, parts)
    again = manifests.read([replace(source, text=text)])
    if not again.complete or len(again.documents) != len(documents):
        return None
    pairs = list(zip(documents, again.documents, strict=True))
    inner = {old.positions.text: new.positions.text for old, new in pairs}
    for old, new in pairs:
        try:
            expected = _expected(old, edits.get(old.index, ()))
        except EditError:
            return None
        if not same(_swapped(expected, inner), new.data):
            return None
    if any(Counter(comments(old)) != Counter(comments(new)) for old, new in inner.items()):
        return None
    return text


def _expected(document: Document, edits: Sequence[Edit]) -> Any:
    quoted = [edit.at.path for edit in edits if edit.verb is Verb.QUOTE]
    return applied(document.data, edits, {path: document.raw(path) or "" for path in quoted})


def _swapped(data: Any, texts: Mapping[str, str]) -> Any:
    """Data in which files inside texts are replaced by other files."""
    if isinstance(data, dict):
        return {key: _swapped(value, texts) for key, value in data.items()}
    if isinstance(data, list):
        return [_swapped(value, texts) for value in data]
    return texts.get(data, data) if isinstance(data, str) else data
