"""JSON to data without its places, where nothing in it asks for a closer look."""

import json
from itertools import chain
from typing import Any, Final

from policygen.spec import kubectl
from policygen.spec.assemble import MAX_DEPTH

UNUSUAL: Final = object()
"""What read() returns instead of data."""

_LONG = 19  # characters that an integer may have which may not fit into 64 bits


def read(text: str) -> Any:
    """The data of a JSON text as kubectl reads it, or UNUSUAL.

    Unusual are text that is no JSON, nesting beyond MAX_DEPTH, keys given twice, half surrogate
    pairs, and words for numbers that JSON has not: a Builder must have a look at these.
    """
    if "\\ud" in text or "\\uD" in text:
        return UNUSUAL
    try:
        data = json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=kubectl.read,
            parse_constant=_constant,
        )
    except (ValueError, RecursionError):
        return UNUSUAL
    return data if _is_flat(data) else UNUSUAL


def _is_flat(data: Any) -> bool:
    level = [data] if data.__class__ is dict or data.__class__ is list else []
    for _ in range(MAX_DEPTH):
        if not level:
            return True
        inner = chain.from_iterable(it.values() if it.__class__ is dict else it for it in level)
        level = [it for it in inner if it.__class__ is dict or it.__class__ is list]
    return not level


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key is given twice")
    return made


def _integer(text: str) -> Any:
    return int(text) if len(text) < _LONG else kubectl.read(text)


def _constant(text: str) -> float:
    raise ValueError(text)
