"""Adds the values that a field allows to messages about scalars that YAML readers disagree about."""

from collections.abc import Iterator, Sequence
from typing import Any

from policygen.core.finding import Finding, Path, Place
from policygen.core.rule import Rule
from policygen.documents.document import Document
from policygen.documents.scalars import AmbiguousScalar, read
from policygen.spec import subschema, type_errors
from policygen.spec.subschema import Json


def advised(findings: Sequence[Finding], document: Document, schema: Json) -> list[Finding]:
    """The findings; those about ambiguous scalars of this document with the values that fit the field.

    A finding at a place without a field in the schema is not changed.
    """
    messages: dict[tuple[Rule, Place | None], str] = {}
    for path, text in _texts(document.data):
        scalar = read(text)
        if not isinstance(scalar, AmbiguousScalar) or not document.is_flawed(path):
            continue
        field = subschema.find(schema, path)
        if field is not None:
            message = type_errors.ambiguous_scalar(scalar, field)
            messages.setdefault((scalar.rule, document.place(path)), message)
    return [
        finding._replace(message=messages.get((finding.rule, finding.place), finding.message))
        for finding in findings
    ]


def _texts(data: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every text among the values, in the order of the document."""
    if isinstance(data, str):
        yield path, data
    elif isinstance(data, dict):
        for key, value in data.items():
            yield from _texts(value, (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _texts(value, (*path, index))
