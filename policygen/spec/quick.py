"""JSON to data without its places, where nothing in it asks for a closer look."""

import json
from math import isfinite
from typing import Any, Final

UNUSUAL: Final = object()
"""What read() returns instead of data."""


def read(text: str) -> Any:
    """The data of a JSON text as kubectl reads it, or UNUSUAL.

    Unusual are text that is no JSON or nests too deep for the reader, keys given twice, half
    surrogate pairs, and numbers that are infinite or none: a Builder must have a look at these.
    """
    if "\\ud" in text or "\\uD" in text:
        return UNUSUAL
    try:
        return json.loads(
            text, object_pairs_hook=_object, parse_float=_float, parse_constant=_constant
        )
    except (ValueError, RecursionError):
        return UNUSUAL


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key is given twice")
    return made


def _float(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError("too large")
    return number


def _constant(text: str) -> float:
    raise ValueError(text)
