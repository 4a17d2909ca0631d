"""Kubernetes quantities such as "80Gi" and "500m", as exact numbers and in canonical text."""

import json
import math
import re
import unicodedata
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import lru_cache

from msgspec import Struct

KIBIBYTE = 1 << 10
MEBIBYTE = 1 << 20
GIBIBYTE = 1 << 30

MAX_INT64 = (1 << 63) - 1
"""The largest quantity of Kubernetes, in units, or in thousandths for cpu."""

MAX_LENGTH = 64
"""The most characters of a quantity: more than any real one has, and few enough to parse fast."""

MAX_EXPONENT = 64
"""The largest absolute value of an exponent."""

_CEILING = 10**21
# Go has no suffix above E, and prints 1000E as "1", so larger quantities have no valid text.

_NANO = 10**9


class Format(Enum):
    """The format of a quantity, which its canonical text keeps."""

    DECIMAL_SI = "DecimalSI"
    BINARY_SI = "BinarySI"
    DECIMAL_EXPONENT = "DecimalExponent"


class Quantity(Struct, frozen=True):
    """An exact number, a multiple of a billionth, and its format."""

    value: Fraction
    format: Format


_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_SUFFIX = {exponent: suffix for suffix, exponent in _DECIMAL.items()}

_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
_NO_DIGITS = re.compile(r"[+-]?\.?(?:[numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]+)?")
_SHAPE = re.compile(rf"({_NUMBER})(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?[0-9]+))?")


def parse(text: str | float) -> Quantity:
    """The quantity of a text or a YAML number.

    Parses as ParseQuantity of k8s.io/apimachinery does: rounds to a billionth, away from zero, and
    caps binary quantities at 2^63-1. A float is read as its shortest decimal text.

    Raises ValueError for invalid input, with a message that contains the remedy. It also rejects
    texts that Go accepts by accident: no digits, and 10^21 and more, which Go prints wrong.
    """
    if isinstance(text, str):
        return _read(text)
    if isinstance(text, bool) or not isinstance(text, int | float):
        message = f"{_shown(text)} is not a valid quantity; write a number such as 500m or 80Gi"
        raise ValueError(message)  # noqa: TRY004 - callers catch ValueError for all invalid input
    if isinstance(text, int):
        return _number(text)
    if not math.isfinite(text):
        raise ValueError(f"{text} is not a finite number; write a number such as 500m or 80Gi")
    return _bounded(Fraction(Decimal(repr(text))), Format.DECIMAL_SI, repr(text))


def read(value: str | float) -> Quantity:
    """The quantity of a field, as the API server decodes it from JSON.

    It ignores spaces around the text, and reads a text without digits ("m", "+") as 0.

    Raises ValueError as `parse` does.
    """
    return _of_field(value) if isinstance(value, str) else parse(value)


@lru_cache(maxsize=4096)
def value_of(text: str) -> Fraction:
    """The value of `read` for a text. Raises ValueError as `parse` does."""
    return _of_field(text).value


@lru_cache(maxsize=4096)
def _of_field(value: str) -> Quantity:
    value = value.strip(" ")
    if value and _NO_DIGITS.fullmatch(value):
        return Quantity(Fraction(0), Format.DECIMAL_SI)
    return _read(value)


@lru_cache(maxsize=4096)
def _read(text: str) -> Quantity:
    if len(text) > MAX_LENGTH:
        raise ValueError(
            f"{_shown(text)} has {len(text)} characters, which is too long for a quantity; write "
            f"at most {MAX_LENGTH}"
        )
    match = _SHAPE.fullmatch(text)
    if match is None:
        raise ValueError(fault(text))
    number, suffix, exponent = match.groups()
    value = Fraction(number)
    if exponent is not None:
        power = int(exponent)
        if abs(power) > MAX_EXPONENT:
            raise ValueError(
                f"{_shown(text)} has an exponent that is out of range; write a number such as 1e9"
            )
        return _bounded(value * Fraction(10) ** power, Format.DECIMAL_EXPONENT, text)
    if suffix in _BINARY:
        value = _rounded(value * (1 << _BINARY[suffix]))
        return Quantity(
            max(min(value, Fraction(MAX_INT64)), -Fraction(MAX_INT64)), Format.BINARY_SI
        )
    return _bounded(value * Fraction(10) ** _DECIMAL[suffix or ""], Format.DECIMAL_SI, text)


@lru_cache(maxsize=4096)
def _number(number: int) -> Quantity:
    if abs(number) >= _CEILING:
        # The message omits the number: Python refuses to print an int of thousands of digits.
        raise ValueError(
            f"a number of {number.bit_length() * 30103 // 100000 + 1} digits is too large for a "
            f"quantity; write at most {MAX_INT64}"
        )
    return Quantity(Fraction(number), Format.DECIMAL_SI)


def _bounded(value: Fraction, form: Format, text: str) -> Quantity:
    if abs(value) >= _CEILING:
        raise ValueError(f"{_shown(text)} is too large for a quantity; write at most {MAX_INT64}")
    return Quantity(_rounded(value), form)


def _rounded(value: Fraction) -> Fraction:
    """Round to a billionth, away from zero, so that a small request does not become 0."""
    scaled = value * _NANO
    if scaled.denominator == 1:
        return value
    return Fraction(_away(scaled), _NANO)


def _away(value: Fraction) -> int:
    return math.ceil(value) if value > 0 else math.floor(value)


def canonical(quantity: Quantity) -> str:
    """The canonical text of a quantity: no fraction, the largest possible suffix, no plus sign.

    Equal to Quantity.CanonicalizeBytes of k8s.io/apimachinery. Quantity.String() repeats some
    inputs instead ("+1k", "1E3", "1.250").
    """
    value, form = quantity.value, quantity.format
    if value == 0:
        return "0"
    if form is Format.BINARY_SI and abs(value) >= 1024 and value.denominator == 1:
        return _binary(value.numerator)
    mantissa, exponent = (value * _NANO).numerator, -9
    while mantissa % 10 == 0:
        mantissa //= 10
        exponent += 1
    mantissa *= 10 ** (exponent % 3)
    exponent -= exponent % 3
    if form is Format.DECIMAL_EXPONENT:
        return f"{mantissa}e{exponent}" if exponent else f"{mantissa}"
    return f"{mantissa}{_SUFFIX[exponent]}"


def _binary(number: int) -> str:
    for suffix, power in reversed(_BINARY.items()):
        if number % (1 << power) == 0:
            return f"{number >> power}{suffix}"
    return f"{number}"


def cpu_milli(text: str | float) -> int:
    """A quantity in thousandths, rounded up (away from zero) as Kubernetes reads cpu.

    Raises ValueError as `parse` does, and for amounts above 64 bits.
    """
    return _counted(text, 1000, "cpu")


def memory_bytes(text: str | float) -> int:
    """A quantity in whole units, rounded up (away from zero) as Kubernetes reads memory.

    Raises ValueError as `parse` does, and for amounts above 64 bits.
    """
    return _counted(text, 1, "memory")


def _counted(text: str | float, scale: int, what: str) -> int:
    count = _away(parse(text).value * scale)
    if abs(count) > MAX_INT64:
        raise ValueError(
            f"{_shown(text)} of {what} is too large for Kubernetes; write a smaller quantity"
        )
    return count


@lru_cache(maxsize=4096)
def from_cpu_milli(milli: int) -> str:
    """Thousandths of a core in canonical text: 1500 is "1500m", 2000 is "2"."""
    return canonical(Quantity(_capped(Fraction(milli, 1000)), Format.DECIMAL_SI))


@lru_cache(maxsize=4096)
def from_memory_bytes(count: int) -> str:
    """Bytes in canonical binary text: 1 << 30 is "1Gi", 3 << 29 is "1536Mi"."""
    return canonical(Quantity(_capped(Fraction(count)), Format.BINARY_SI))


def _capped(value: Fraction) -> Fraction:
    """Cap a value as Kubernetes does. Only sums of unrealistically large pools exceed the limit."""
    return max(min(value, Fraction(MAX_INT64)), -Fraction(MAX_INT64))


_EXAMPLES = (
    "write a number with at most one suffix (m k M G T P E or Ki Mi Gi Ti Pi Ei), "
    "such as 500m or 80Gi"
)
_WITH_WORD = re.compile(rf"({_NUMBER})\s*([A-Za-z]+)")
_EXPONENT_AND_SUFFIX = re.compile(rf"{_NUMBER}(?:[eE][+-]?[0-9]+[A-Za-z]+|[A-Za-z]i[eE][0-9]+)")
_BASED = re.compile(r"0(?:[xX][0-9a-fA-F]{1,60}|[oO][0-7]{1,60}|[bB][01]{1,60})")
_CORES = ("core", "cores", "cpu", "cpus", "vcpu", "vcpus")


def fault(text: str) -> str:
    """The error message for a text that is not a valid quantity, with the remedy."""
    shown = _shown(text)
    if not text.strip():
        return "an empty text is not a valid quantity; write a number such as 500m or 80Gi"
    plain = unicodedata.normalize("NFKC", text)
    joined = "".join(plain.split())
    if _SHAPE.fullmatch(joined):
        if plain != text:
            return f"{shown} has letters or digits that only look like ASCII; write {joined}"
        return f"{shown} has a space in it; write {joined}"
    if _BASED.fullmatch(text):
        return f"{shown} is not a decimal number; write {int(text, 0)}"
    if "_" in text and _SHAPE.fullmatch(text.replace("_", "")):
        return f"{shown} has an underscore in it; write {text.replace('_', '')}"
    if text.count(",") == 1 and _SHAPE.fullmatch(pointed := text.replace(",", ".")):
        return f"{shown} has a comma in it; write {pointed} or {text.replace(',', '')}"
    if "," in text and _SHAPE.fullmatch(text.replace(",", "")):
        return f"{shown} has commas in it; write {text.replace(',', '')}"
    if text.lstrip("+-.").lower() in ("nan", "inf", "infinity"):
        return f"{shown} is not a finite number; write a number such as 500m or 80Gi"
    if _EXPONENT_AND_SUFFIX.fullmatch(text):
        return f"{shown} has both an exponent and a suffix; write only one of them"
    match = _WITH_WORD.fullmatch(text)
    instead = match and _instead(match[1], match[2].lower())
    return f"{shown} is not a valid quantity; {f'write {instead}' if instead else _EXAMPLES}"


def _instead(number: str, word: str) -> str | None:
    """The valid quantity for a number with an informal unit; None if the unit is unknown."""
    if word in _CORES:
        return number
    unit = word.removesuffix("bytes").removesuffix("byte").removesuffix("b")
    if not unit:
        return number
    letter = unit[0].upper()
    if f"{letter}i" not in _BINARY:
        return None
    if unit[1:] == "i":
        return f"{number}{letter}i"
    return (
        f"{number}{letter}i or {number}{'k' if letter == 'K' else letter}" if not unit[1:] else None
    )


def _shown(value: object) -> str:
    """A value for a message: shortened, on one line, without control characters."""
    if isinstance(value, str):
        return json.dumps(value if len(value) <= 40 else f"{value[:37]}...")
    if value is None or isinstance(value, bool | int | float):
        return json.dumps(value)
    return f"a {type(value).__name__}"
