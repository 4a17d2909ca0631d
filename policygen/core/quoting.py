"""Words in messages: values of the input (on one line, short, escaped), lists and numbers."""

import json
import re
from collections.abc import Sequence
from typing import Any

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
_WORDS = frozenset(("y", "yes", "n", "no", "on", "off", "true", "false", "null"))
"""Booleans and null of YAML 1.1 (yaml.org/type), in upper and lower case."""
MAX_SHOWN = 60
"""The largest length of a value in a message, in characters."""


def short(text: str) -> str:
    """The text, or its beginning when it is too long for a message."""
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}..."


def quoted(text: str) -> str:
    """The text in double quotes, with escapes for characters that are not printable."""
    return f'"{bare(text, quotes=True)}"'


def bare(text: str, *, quotes: bool = False) -> str:
    """The text, shortened, with escapes for unprintable characters, and for quotes with `quotes`."""
    escaped = json.dumps(short(text), ensure_ascii=False)[1:-1]
    if not quotes:
        escaped = escaped.replace('\\"', '"')
    if escaped.isprintable():
        return escaped
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in escaped
    )


def is_plain(text: str) -> bool:
    """Whether every YAML parser certainly reads the text without quotes as this string."""
    return _PLAIN.fullmatch(text) is not None and text.lower() not in _WORDS


def as_yaml(text: str) -> str:
    """A string to type in YAML: in quotes, unless YAML certainly reads it as a string without them."""
    return bare(text) if is_plain(text) else quoted(text)


def shown(value: Any) -> str:
    """A value as text for a message."""
    match value:
        case None:
            return "an empty value"
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value)
        case int() | float():
            return short(f"{value}")
        case list():
            return "a list"
        case dict():
            return "a mapping"
        case _:
            return f"a {type(value).__name__}"


def counted(number: int | str, noun: str, plural: str = "") -> str:
    """A number of things: `1 kind`, `3 kinds`, `2.5 cores`, and with `plural` `3 entries`."""
    return f"{number} {noun if f'{number}' == '1' else plural or f'{noun}s'}"


def times(number: int) -> str:
    """How often something happened: `once`, `3 times`."""
    return "once" if number == 1 else f"{number} times"


def listed(names: list[str], word: str = "or") -> str:
    """Words in a sentence: `a, b or c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


def as_arguments(names: Sequence[str], most: int = 8) -> str:
    """The first of many names, as arguments of a command that a message shows."""
    return " ".join([*names[:most], *(["..."] if names[most:] else [])])


def some(names: Sequence[str], noun: str, most: int = 3) -> str:
    """The first of many names in a sentence: `a, b, c and 2 other workloads`."""
    more = len(names) - most
    return listed([*names[:most], *([counted(more, noun)] if more > 0 else [])], "and")
