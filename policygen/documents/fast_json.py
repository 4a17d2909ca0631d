"""JSON to data without its places, where nothing in it asks for a closer look."""

from itertools import chain
from typing import Any

import msgspec

from policygen.documents.parsed import MAX_DEPTH, UNUSUAL
from policygen.documents.shared import Shared

_ABOVE = 4
"""Collections around what Shared reads at once: a List, its items, an object, and its spec."""

_FLAT = 2 * (MAX_DEPTH - _ABOVE)
"""Characters that cannot nest too deep: each collection has two brackets."""

_ODD = ("\\ud", "\\uD", "\\u0022")
"""How half a surrogate pair begins, and a quotation mark that is written without one."""

_TO_ZEROS = bytes.maketrans(b"123456789", b"0" * 9)
_LONG = b"0" * 19
"""Digits of an integer that may not fit into 64 bits."""


class _UnusualError(ValueError):
    pass


def read(text: str) -> Any:
    """The data of a JSON object as kubectl reads it, or UNUSUAL.

    Unusual are text that is no JSON, nesting that may be beyond MAX_DEPTH, keys given twice, half
    surrogate pairs, and numbers that are no finite ones, or too long: a Builder must have a look.
    Parts that are written alike are one object, see Shared.
    """
    if "\\" in text and any(odd in text for odd in _ODD):  # the first is found much faster
        return UNUSUAL
    try:
        data = Shared(_read).of_list(text)
    except (msgspec.DecodeError, _UnusualError, RecursionError):
        return UNUSUAL
    # A key that is given twice is in the data once, with two quotation marks less.
    whole = msgspec.json.encode(data).count(b'"') == text.count('"')
    return data if whole else UNUSUAL


def _read(text: bytes) -> Any:
    data = _decode(text)
    if len(text) > _FLAT and not _is_flat(text, data):
        raise _UnusualError
    if len(text) >= len(_LONG) and _LONG in text.translate(_TO_ZEROS):
        try:
            msgspec.msgpack.encode(data)
        except OverflowError:
            raise _UnusualError from None
    return data


def _is_flat(text: bytes, data: Any) -> bool:
    if text.count(b"{") + text.count(b"[") <= MAX_DEPTH - _ABOVE:
        return True
    level = [data] if data.__class__ is dict or data.__class__ is list else []
    for _ in range(MAX_DEPTH - _ABOVE):
        if not level:
            return True
        inner = chain.from_iterable(it.values() if it.__class__ is dict else it for it in level)
        level = [it for it in inner if it.__class__ is dict or it.__class__ is list]
    return not level


def _float(text: str) -> int | float:
    from policygen.documents import kubectl_scalars  # noqa: PLC0415 - most numbers have no fraction

    value = kubectl_scalars.read(text)
    if not isinstance(value, int | float):
        raise _UnusualError
    return value


_decode = msgspec.json.Decoder(float_hook=_float).decode
