"""Durations: as Go writes them (`5m`, `1h30m`), as users write them, and for people (`1h 30m`)."""

import re
from fractions import Fraction
from typing import Any

_PART = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
_DAYS = re.compile(r"([+-]?)([0-9]+)d(.*)", re.DOTALL)
_BLANK = re.compile(r"(?<=[a-z]) (?=[0-9])")
"""Between the parts of a duration, as `duration` writes it."""
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]{1,2})?", re.IGNORECASE)
_DAY_S = 86400
EXAMPLES = "write for example 90, 90s, 1h30m or 7d"
"""The remedy for what `written` does not take."""
_LONGEST_S = Fraction((1 << 63) - 1, 10**9)
"""Go counts nanoseconds in 64 bits."""
MOST_S = 1 << 53
"""A float counts each second up to here."""
_MOST_CHARACTERS = 1000
"""Python does not parse numbers of any length."""
_UNITS = {
    "ns": Fraction(1, 10**9),
    "us": Fraction(1, 10**6),
    "µs": Fraction(1, 10**6),
    "μs": Fraction(1, 10**6),
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "m": Fraction(60),
    "h": Fraction(3600),
}
_READABLE = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


def seconds(text: Any) -> Fraction | None:
    """The duration in seconds; None for what time.ParseDuration refuses, and for more than 1000 characters."""
    if not isinstance(text, str) or len(text) > _MOST_CHARACTERS:
        return None
    sign = -1 if text.startswith("-") else 1
    rest = text.removeprefix("-") if sign < 0 else text.removeprefix("+")
    if rest == "0":
        return Fraction(0)
    parts = _PART.findall(rest)
    if not parts or "".join(number + unit for number, unit in parts) != rest:
        return None
    length = sum((Fraction(number) * _UNITS[unit] for number, unit in parts), Fraction(0))
    return sign * length if length <= _LONGEST_S else None


def duration(length_s: float) -> str:
    """A duration for people: `40s`, `2h 5m`, `1d 1m`. From one hour on, it is rounded to minutes."""
    left = round(abs(length_s))
    if left >= 3_600:
        left = round(left / 60) * 60
    parts = []
    for size, unit in _READABLE:
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count}{unit}")
    text = " ".join(parts) or "0s"
    return f"-{text}" if parts and length_s < 0 else text


def written(text: Any) -> Fraction | None:
    """The seconds of a user's duration: a number of seconds, or units with days; None for other text.

    Options, annotations and traces take `90`, `1h30m`, `7d`, `1d12h` and `1d 12h`, and no number that a
    float cannot count.
    """
    if not isinstance(text, str) or len(text) > _MOST_CHARACTERS:
        return None
    length = Fraction(text) if _NUMBER.fullmatch(text) else _with_days(_BLANK.sub("", text))
    return length if length is not None and abs(length) <= MOST_S else None


def _with_days(text: str) -> Fraction | None:
    match = _DAYS.fullmatch(text)
    if match is None:
        return seconds(text)
    rest = seconds(match[3] or "0")
    if rest is None or match[3][:1] in {"+", "-"}:
        return None
    length = int(match[2]) * _DAY_S + rest
    return -length if match[1] == "-" else length
