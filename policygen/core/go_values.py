"""Numbers, percentages and booleans in text, parsed as Go's strconv does."""

import re

_INTEGER = re.compile(r"([+-]?)0*([0-9]{1,19})", re.ASCII)
_PERCENTAGE = re.compile(r"([0-9]+)%", re.ASCII)
_LARGEST = 2**63 - 1
_BOOLEANS = {
    **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True),
    **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False),
}


def integer(text: str) -> int | None:
    """The result of strconv.Atoi; None if it refuses the text."""
    found = _INTEGER.fullmatch(text)
    number = int(found[1] + found[2]) if found else None
    return number if number is not None and -_LARGEST - 1 <= number <= _LARGEST else None


def percentage(text: str) -> int | None:
    """The number of a percentage such as `50%`, at most 2^63 - 1; None for other text.

    Source: IsValidPercent of k8s.io/apimachinery, and getPercentValue of pkg/apis/apps/validation.
    """
    found = _PERCENTAGE.fullmatch(text)
    if found is None:
        return None
    number = integer(found[1])
    return _LARGEST if number is None else number


def boolean(text: str) -> bool | None:
    """The result of strconv.ParseBool; None if it refuses the text."""
    return _BOOLEANS.get(text)
