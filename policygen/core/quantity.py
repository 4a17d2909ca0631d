"""Kubernetes quantities such as "80Gi" and "500m", as exact numbers and in canonical text."""

import json
import math
import re
import unicodedata
from collections.abc import Iterable
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import lru_cache

from msgspec import Struct

KIBIBYTE = 1 << 10
MEBIBYTE = 1 << 20
GIBIBYTE = 1 << 30

MAX_INT64 = (1 << 63) - 1
"""What Kubernetes caps a quantity at, in units or, as it reads cpu, in thousandths."""

MAX_LENGTH = 64
"""Characters of a quantity's text: more than any that means something, and cheap to read."""

MAX_EXPONENT = 64
"""Powers of ten that an exponent may name; beyond it nothing is a quantity."""

_CEILING = 10**21
# Go prints 1000E as "1", since its suffixes end at E: from here on there is no text to agree on.

_NANO = 10**9


class Format(Enum):
    """How a quantity was written, which is how it is written again."""

    DECIMAL_SI = "DecimalSI"
    BINARY_SI = "BinarySI"
    DECIMAL_EXPONENT = "DecimalExponent"


class Quantity(Struct, frozen=True):
    """An exact number, never finer than a billionth, and the format that it was written in."""

    value: Fraction
    format: Format


_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_SUFFIX = {exponent: suffix for suffix, exponent in _DECIMAL.items()}

_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
_SHAPE = re.compile(rf"({_NUMBER})(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?[0-9]+))?")


def parse(text: str | float) -> Quantity:
    """The quantity that a text or a YAML number stands for.

    Reads what k8s.io/apimachinery's ParseQuantity reads: digits finer than a billionth are
    rounded up (away from zero), binary ones are capped at 2^63-1. A float counts as its
    shortest decimal text.

    Raises ValueError, whose message says what to write, for everything else; also for what
    Go accepts by accident (no digits at all, 10^21 and more, which it prints wrong).
    """
    if isinstance(text, str):
        return _read(text)
    if isinstance(text, bool) or not isinstance(text, int | float):
        message = f"{_shown(text)} is not a valid quantity; write a number such as 500m or 80Gi"
        raise ValueError(message)  # noqa: TRY004 - the input's fault, as every other here
    if isinstance(text, int):
        return _number(text)
    if not math.isfinite(text):
        raise ValueError(f"{text} is not a finite number; write one such as 500m or 80Gi")
    return _bounded(Fraction(Decimal(repr(text))), Format.DECIMAL_SI, repr(text))


@lru_cache(maxsize=4096)
def _read(text: str) -> Quantity:
    if len(text) > MAX_LENGTH:
        raise ValueError(
            f"{_shown(text)} has {len(text)} characters; a quantity needs no more than {MAX_LENGTH}"
        )
    match = _SHAPE.fullmatch(text)
    if match is None:
        raise ValueError(_fault(text))
    number, suffix, exponent = match.groups()
    value = Fraction(number)
    if exponent is not None:
        power = int(exponent)
        if abs(power) > MAX_EXPONENT:
            raise ValueError(f"{_shown(text)} has an absurd exponent; write a number such as 1e9")
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
        # Not its text: Python refuses to print an int of thousands of digits.
        raise ValueError(
            f"a number of {number.bit_length() * 30103 // 100000 + 1} digits is too large for a "
            f"quantity; Kubernetes holds at most {MAX_INT64}"
        )
    return Quantity(Fraction(number), Format.DECIMAL_SI)


def _bounded(value: Fraction, form: Format, text: str) -> Quantity:
    if abs(value) >= _CEILING:
        raise ValueError(
            f"{_shown(text)} is too large for a quantity; Kubernetes holds at most {MAX_INT64}"
        )
    return Quantity(_rounded(value), form)


def _rounded(value: Fraction) -> Fraction:
    """Away from zero to a billionth: whoever asks for a little gets a little."""
    scaled = value * _NANO
    if scaled.denominator == 1:
        return value
    return Fraction(_away(scaled), _NANO)


def _away(value: Fraction) -> int:
    return math.ceil(value) if value > 0 else math.floor(value)


def canonical(quantity: Quantity) -> str:
    """The one text of a quantity: no fraction, the largest suffix, no sign but a minus.

    What Quantity.CanonicalizeBytes gives in k8s.io/apimachinery. Quantity.String() gives the
    same, but for some texts it repeats the input ("+1k", "1E3", "1.250"); this does not.
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


def compared(amounts: Iterable[Fraction], *, binary: bool) -> list[str]:
    """Amounts for a reader to compare: all in the largest one's unit, such as `0.5Ti` and `1.25Ti`.

    With three decimals at most, or exact where these would not tell them apart. `binary` counts bytes.
    """
    exact = list(amounts)
    largest = max(map(abs, exact), default=Fraction(0))
    units = [("", 0), *_BINARY.items()] if binary else [("", 0)]
    suffix, power = [it for it in units if largest >= 1 << it[1] or not it[1]][-1]
    texts = [f"{_decimal(it / (1 << power), 3)}{suffix}" for it in exact]
    if len(set(texts)) < len(set(exact)):
        return [_decimal(it, 9) for it in exact]
    return texts


def _decimal(value: Fraction, digits: int) -> str:
    return f"{Decimal(round(value * 10**digits)).scaleb(-digits).normalize():f}"


def cpu_milli(text: str | float) -> int:
    """A quantity in thousandths, rounded up (away from zero) as Kubernetes reads cpu.

    Raises ValueError as `parse` does, and for what 64 bits cannot count.
    """
    return _counted(text, 1000, "cpu")


def memory_bytes(text: str | float) -> int:
    """A quantity in whole units, rounded up (away from zero) as Kubernetes reads memory.

    Raises ValueError as `parse` does, and for what 64 bits cannot count.
    """
    return _counted(text, 1, "memory")


def _counted(text: str | float, scale: int, what: str) -> int:
    count = _away(parse(text).value * scale)
    if abs(count) > MAX_INT64:
        raise ValueError(f"{_shown(text)} is more {what} than Kubernetes can count; write less")
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
    """As Kubernetes would cap it on reading; only sums of absurd pools come here."""
    return max(min(value, Fraction(MAX_INT64)), -Fraction(MAX_INT64))


_EXAMPLES = (
    "write a number with at most one suffix (m k M G T P E or Ki Mi Gi Ti Pi Ei), "
    "such as 500m or 80Gi"
)
_WITH_WORD = re.compile(rf"({_NUMBER})\s*([A-Za-z]+)")
_EXPONENT_AND_SUFFIX = re.compile(rf"{_NUMBER}(?:[eE][+-]?[0-9]+[A-Za-z]+|[A-Za-z]i[eE][0-9]+)")
_BASED = re.compile(r"0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)")
_CORES = ("core", "cores", "cpu", "cpus", "vcpu", "vcpus")


def _fault(text: str) -> str:
    """What is wrong with a text that is not a valid quantity, and what to write."""
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
        return f"{shown} is not a finite number; write one such as 500m or 80Gi"
    if _EXPONENT_AND_SUFFIX.fullmatch(text):
        return f"{shown} has both an exponent and a suffix; write only one of them"
    worded = _WITH_WORD.fullmatch(text)
    instead = worded and _instead(worded[1], worded[2].lower())
    return f"{shown} is not a valid quantity; {f'write {instead}' if instead else _EXAMPLES}"


def _instead(number: str, word: str) -> str | None:
    """What a number with a unit in everyday spelling was meant to be."""
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
    """A value in a message: short, on one line, harmless to a terminal."""
    if isinstance(value, str):
        return json.dumps(value if len(value) <= 40 else f"{value[:37]}...")
    if value is None or isinstance(value, bool | int | float):
        return json.dumps(value)
    return f"a {type(value).__name__}"
