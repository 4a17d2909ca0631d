r"""Hides escaped surrogates of JSON (`\ud83d\ude00`) from the YAML parser, which refuses them."""

import re
from json import loads

# An escaped surrogate pair, or any other escape, so that `\\ud83d` is read as a backslash and text.
_ESCAPE = re.compile(
    r"\\(?:(u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


def has_escapes(text: str) -> bool:
    """Whether surrogates are escaped in a text."""
    return _SURROGATE_ESCAPE.search(text) is not None


def masked(text: str) -> str:
    """JSON of the same length without escaped surrogate pairs, for a YAML parser.

    A Builder restores them from the original text.
    """
    if not has_escapes(text):
        return text
    return _ESCAPE.sub(lambda match: "x" * 12 if match[1] else match[0], text)


def unmasked(raw: str) -> str | None:
    """The value of a quoted scalar in which a pair was masked; None if no pair was masked.

    A lone surrogate if the scalar is not valid JSON.
    """
    if not any(match[1] for match in _ESCAPE.finditer(raw)):
        return None
    try:
        value: str = loads(raw, strict=False)
    except ValueError:
        return "\ud800"
    return value


def has_surrogate(text: str) -> bool:
    """Whether a text contains half of a surrogate pair, which is not a character."""
    return any("\ud800" <= char <= "\udfff" for char in text)
