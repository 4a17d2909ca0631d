"""Reads numbers in fields for text, where exactly one known value of the field is this number."""

import re
from collections.abc import Iterator
from typing import Any

from policygen.core.finding import At, Hit, Path, at_path
from policygen.core.quoting import shown
from policygen.core.versions import SUPPORTED, written
from policygen.hardware import catalog, models
from policygen.spec.forms import ARTICLE_MODEL, MODEL, PLATFORM, RESOURCE_POOL, DocumentForm
from policygen.spec.rules import NUMBER_AS_TEXT

_FIELDS: dict[str, tuple[Path, ...]] = {
    MODEL.schema: (("spec", "size"), ("spec", "placement", "nodeTypes")),
    ARTICLE_MODEL.schema: (
        ("spec", "modelSize"),
        ("spec", "placementConstraints", "nodeTypes"),
    ),
    RESOURCE_POOL.schema: (("spec", "gpu", "product"),),
    PLATFORM.schema: tuple(("spec", "target", component) for component in SUPPORTED),
}
"""Fields for text with known values, by schema.

Names and labels are not among them: any text can be meant, and Kubernetes refuses numbers there.
"""

_NUMBER = re.compile(r"[0-9]{1,6}(\.[0-9]{1,3})?")


def to_text(form: DocumentForm, data: Any, document: int) -> list[Hit]:
    """Replace such numbers in unchecked data by their text, with a note about each.

    A size in quotes that lacks its unit is replaced too. The schema reports all other numbers.
    """
    hits: list[Hit] = []
    for path in _FIELDS.get(form.schema, ()):
        for around, key, at in _values(data, path):
            value = around[key]
            text = _meant(path[-1], data, value)
            if text is not None:
                around[key] = text
                field = next(it for it in reversed(path) if isinstance(it, str))
                kind = "text without a unit" if isinstance(value, str) else "a number"
                message = (
                    f'{field} {shown(value)} is {kind}, which policygen reads as "{text}"; write '
                    f'"{text}"'
                )
                hits.append(Hit(NUMBER_AS_TEXT, message, At(document, at)))
    return hits


def _values(data: Any, path: Path) -> Iterator[tuple[Any, Any, Path]]:
    """The value at a path, or each entry of the list there: what contains it, its key, its path."""
    around, key = at_path(data, path[:-1]), path[-1]
    if not isinstance(around, dict) or key not in around:
        return
    value = around[key]
    if isinstance(value, list):
        yield from ((value, index, (*path, index)) for index in range(len(value)))
    else:
        yield around, key, path


def _meant(field: str | int, data: Any, value: Any) -> str | None:
    """The known value of the field that is this number; None if there is none, or for other values."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    number = str(value).removesuffix(".0")
    if not _NUMBER.fullmatch(number):
        return None
    if field in {"size", "modelSize"}:
        family = at_path(data, ("spec", "family" if field == "size" else "modelFamily"))
        text = f"{number}b"
        if family is None:
            return text if models.is_size(text) else None
        return text if isinstance(family, str) and models.known(family, text) else None
    if isinstance(value, str):
        return None
    if field in SUPPORTED:
        (major, first), (_, last) = SUPPORTED[str(field)]
        releases = {written((major, minor)) for minor in range(first, last + 1)}
        return number if number in releases else None
    return number if catalog.product(number) is not None else None
