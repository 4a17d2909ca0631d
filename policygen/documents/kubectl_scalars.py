"""The value of an unquoted YAML scalar for kubectl, and for controllers that read files as it does."""

import re
from decimal import Decimal
from math import isfinite
from typing import Final

from policygen.documents.rules import AMBIGUOUS_YAML_VALUE
from policygen.documents.scalars import AmbiguousScalar, Plain, Plains

_WORDS: Final[dict[str, Plain]] = {
    "": None,
    **dict.fromkeys(("~", "null", "Null", "NULL")),
    **{
        spelling: meant
        for meant, words in (
            (True, ("true", "yes", "on", "y")),
            (False, ("false", "no", "off", "n")),
        )
        for word in words
        for spelling in (word, word.capitalize(), word.upper())
    },
    "<<": AmbiguousScalar(AMBIGUOUS_YAML_VALUE, "<<", "<< is the merge key of YAML, not text"),
    **{
        text: AmbiguousScalar(
            AMBIGUOUS_YAML_VALUE,
            text,
            f"{text} is infinite, and Kubernetes objects cannot contain infinite numbers",
        )
        for word in ("inf", "Inf", "INF")
        for text in (f".{word}", f"+.{word}", f"-.{word}")
    },
    **{
        text: AmbiguousScalar(
            AMBIGUOUS_YAML_VALUE,
            text,
            f"{text} is not a number, and Kubernetes objects cannot contain this value",
        )
        for text in (".nan", ".NaN", ".NAN")
    },
}

_NUMERIC = frozenset("0123456789+-.")
_INT = re.compile(
    r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))", re.ASCII
)
_BINARY = re.compile(r"0b([-+]?[01]+)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_FRACTION = re.compile(r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?")
_BASES = (16, 2, 8, 10)
_MAX_DIGITS = 20  # of 64 bits in base 10; a longer number is a float
_PLAIN_BELOW = 1e21


def read(text: str) -> Plain:
    """The value of a plain scalar in the JSON that kubectl sends to a server.

    Source: resolve.go of go.yaml.in/yaml/v2 v2.4.2, which sigs.k8s.io/yaml v1.6.0 uses, and
    encoding/json, which writes a float below 10^21 without a fraction as an integer. Infinities are
    refused. So is `<<`, except as a key (see `Builder`).
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMERIC:
        return text
    if text[0] == ".":
        return _float(text.replace("_", ""), text) if _FRACTION.fullmatch(text) else text
    plain = text.replace("_", "")
    integer = _integer(plain)
    if integer is not None:
        return integer
    return _float(plain, text) if _FLOAT.fullmatch(plain) else text


class KubernetesPlains(Plains):
    """The values of plain scalars as kubectl reads them: `yes` is true, `0644` is 420."""

    def __missing__(self, text: str) -> Plain:
        value = self[text] = read(text)
        return value


def _integer(plain: str) -> int | None:
    """An integer that fits into 64 bits: signed, or unsigned if it has no sign."""
    match = _INT.fullmatch(plain)
    if match:
        sign, *bases = match.groups()
        base, digits = next((base, it) for base, it in zip(_BASES, bases, strict=True) if it)
    else:
        match = _BINARY.fullmatch(plain)
        if not match:
            return None
        sign, base, digits = "", 2, match[1]
    if base == 10 and len(digits) > _MAX_DIGITS:
        return None
    value = int(sign + digits, base)
    return value if -(1 << 63) <= value < (1 << (63 if sign else 64)) else None


def _float(digits: str, text: str) -> Plain:
    value = float(digits)
    return number(value) if isfinite(value) else text


def is_float(text: str) -> bool:
    """Whether YAML reads a plain scalar as a float: `1.0` and `1e3`, which JSON of Go writes as integers."""
    plain = text.replace("_", "")
    return _integer(plain) is None and _FLOAT.fullmatch(plain) is not None


def number(value: float) -> int | float:
    """A finite float after Go wrote it as JSON and it was read again."""
    if value.is_integer() and abs(value) < _PLAIN_BELOW:
        return int(Decimal(repr(value)))
    return value
