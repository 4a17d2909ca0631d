"""Messages about scalars that YAML readers disagree about, with the values that the field allows."""

from collections.abc import Iterator, Sequence
from typing import Any

from policygen.core.finding import Finding, Path, Place
from policygen.core.rule import Rule
from policygen.documents.document import Document
from policygen.documents.scalars import AmbiguousScalar, read
from policygen.spec import subschema, type_errors
from policygen.spec.subschema import Json


def advised(findings: Sequence[Finding], document: Document, schema: Json) -> list[Finding]:
    """The findings, and in those about a surprise of this document the advice that fits.

    What stands where the schema knows no field keeps the advice that it has.
    """
    fitting: dict[tuple[Rule, Place | None], str] = {}
    for path, text in _texts(document.data):
        surprise = read(text)
        if not isinstance(surprise, AmbiguousScalar) or not document.is_flawed(path):
            continue
        field = subschema.find(schema, path)
        if field is not None:
            message = type_errors.surprise(surprise, field)
            fitting.setdefault((surprise.rule, document.place(path)), message)
    return [
        finding._replace(message=fitting.get((finding.rule, finding.place), finding.message))
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
