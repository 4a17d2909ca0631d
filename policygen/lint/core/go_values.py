"""Texts as Go's strconv reads them: what annotations hold instead of numbers and booleans."""

import re

_INTEGER = re.compile(r"[+-]?[0-9]{1,19}", re.ASCII)
_BOOLEANS = {
    **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True),
    **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False),
}


def integer(text: str) -> int | None:
    """What strconv.Atoi makes of it; None for what it refuses."""
    number = int(text) if _INTEGER.fullmatch(text) else None
    return number if number is not None and -(2**63) <= number < 2**63 else None


def boolean(text: str) -> bool | None:
    """What strconv.ParseBool makes of it; None for what it refuses."""
    return _BOOLEANS.get(text)
