"""Numbers and booleans in annotations, parsed as Go's strconv does."""

import re

_INTEGER = re.compile(r"[+-]?[0-9]{1,19}", re.ASCII)
_BOOLEANS = {
    **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True),
    **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False),
}


def integer(text: str) -> int | None:
    """The result of strconv.Atoi; None if it refuses the text."""
    number = int(text) if _INTEGER.fullmatch(text) else None
    return number if number is not None and -(2**63) <= number < 2**63 else None


def boolean(text: str) -> bool | None:
    """The result of strconv.ParseBool; None if it refuses the text."""
    return _BOOLEANS.get(text)
