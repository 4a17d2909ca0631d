"""The values of unquoted YAML scalars, and the scalars that readers disagree about."""

import re
from collections.abc import Sequence
from decimal import Decimal

from msgspec import Struct

from policygen.core.rule import Rule
from policygen.documents.rules import AMBIGUOUS_YAML_VALUE, NUMBER_TOO_LONG

MAX_DIGITS = 20
"""More digits than any count or size needs, and few enough to parse fast."""

_MAX_SHOWN = 30


class AmbiguousScalar(Struct, frozen=True):
    """A scalar that is refused, because YAML 1.1, YAML 1.2 or people read it differently.

    Not a Hit: the remedies depend on the field, so its schema is needed to write the message.
    """

    rule: Rule
    text: str
    problem: str
    """The fault, as a sentence about the text."""
    instead: tuple[str, ...] = ()
    """Plain scalars to write instead. The text in quotes is always valid, too."""

    @property
    def in_quotes(self) -> str:
        """The text in quotes, which is always valid."""
        return f'"{shorten(self.text)}" in quotes'

    def message(self, *, key: bool = False) -> str:
        """The message: the fault and what to write; a key can only be put in quotes."""
        return self.message_with([*(() if key else self.instead), self.in_quotes])

    def message_with(self, remedies: Sequence[str]) -> str:
        """The message with these remedies: what to write instead."""
        *others, last = remedies
        either = f"{', '.join(others)}, or " if others else ""
        return f"{self.problem}; write {either}{last}"


Plain = str | int | float | bool | AmbiguousScalar | None


def shorten(text: str) -> str:
    """The text on one line, or its beginning when it is too long for a message."""
    text = text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 5]}..."
    return text.replace("\r", "\\r").replace("\n", "\\n")


def read(text: str) -> Plain:
    """The value of a plain scalar, by the YAML 1.2 core rules where no other reader disagrees.

    The forms that are refused are those of the YAML 1.1 types (yaml.org/type: bool, int,
    float, timestamp, merge, value) and of the YAML 1.2.2 core schema (10.3.2).
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMERIC:
        return text
    if _INT.fullmatch(text):
        return _too_long(text) or int(text)
    if _FLOAT.fullmatch(text):
        return _too_long(text) or float(text)
    return _ambiguous(text)


class Plains(dict[str, Plain]):
    """A cache of the values of plain scalars."""

    def __missing__(self, text: str) -> Plain:
        value = self[text] = read(text)
        return value


def _ambiguous(text: str) -> Plain:
    if _BASED.fullmatch(text) or _ZEROS.fullmatch(text):
        return _other_base(text)
    if _UNDERSCORES.fullmatch(text):
        return _number(text, text.replace("_", ""))
    if _EXPONENT.fullmatch(text) or _BARE_POINT.fullmatch(text) or _PLUS.fullmatch(text):
        return _number(text, text)
    if _BASE_60.fullmatch(text):
        problem = f"some programs read {shorten(text)} as a number in base 60, others as text"
        return AmbiguousScalar(AMBIGUOUS_YAML_VALUE, text, problem)
    if _DATE.fullmatch(text):
        problem = f"some programs read {shorten(text)} as a date, others as text"
        return AmbiguousScalar(AMBIGUOUS_YAML_VALUE, text, problem)
    if _SPECIAL.fullmatch(text):
        problem = f"some programs read {shorten(text)} as infinity or NaN"
        return AmbiguousScalar(AMBIGUOUS_YAML_VALUE, text, problem)
    return text


_WORDS: dict[str, Plain] = {
    "": None,
    **dict.fromkeys(("~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **{
        spelling: AmbiguousScalar(
            AMBIGUOUS_YAML_VALUE,
            spelling,
            f"some programs read {spelling} as {meant}, others as text",
            (meant,),
        )
        for meant, words in (("true", ("yes", "on", "y")), ("false", ("no", "off", "n")))
        for word in words
        for spelling in (word, word.capitalize(), word.upper())
    },
    "=": AmbiguousScalar(AMBIGUOUS_YAML_VALUE, "=", "some programs do not read = as text"),
    "<<": AmbiguousScalar(AMBIGUOUS_YAML_VALUE, "<<", "<< is the merge key of YAML, not text"),
}

_NUMERIC = frozenset("0123456789+-.")
_INT = re.compile(r"-?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+")
_ZEROS = re.compile(r"[-+]?0[0-9_]+")
_BASED = re.compile(r"[-+]?0(?:[oO][0-7_]+|[xX][0-9a-fA-F_]+|[bB][01_]+)")
_UNDERSCORES = re.compile(r"[-+]?(?=[0-9.]*_)[0-9][0-9_]*(?:\.[0-9_]*)?|[-+]?\.[0-9]+_[0-9_]*")
_EXPONENT = re.compile(r"[-+]?(?:\.[0-9_]+|[0-9][0-9_]*(?:\.[0-9_]*)?)[eE][-+]?[0-9]+")
_BARE_POINT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+\.)")
_PLUS = re.compile(r"[-+]?[0-9]+(?:\.[0-9]*)?")
_BASE_60 = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
_DATE = re.compile(
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
    r"(?:(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?"
    r"(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::?[0-9]{2})?))?)?"
)
_SPECIAL = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_MAX_EXPONENT = 15


def _too_long(text: str) -> AmbiguousScalar | None:
    digits = len(text.lstrip("-0.").replace(".", ""))
    if digits <= MAX_DIGITS:
        return None
    problem = f"{shorten(text)} has {digits} digits; a number may have at most {MAX_DIGITS}"
    return AmbiguousScalar(NUMBER_TOO_LONG, text, problem, ("a shorter number",))


def _other_base(text: str) -> AmbiguousScalar:
    digits = text.lstrip("+-").replace("_", "").lower()
    sign = "-" if text[0] == "-" else ""
    base = {"0o": 8, "0x": 16, "0b": 2}.get(digits[:2])
    if len(digits) > MAX_DIGITS or not digits[2 if base else 0 :]:
        return _number(text, "")
    if base:
        return _number(text, f"{sign}{int(digits[2:], base)}")
    decimal = f"{sign}{int(digits)}"
    if digits.strip("01234567") or int(digits) < 8:
        return _number(text, decimal)
    octal = f"{sign}{int(digits, 8)}"
    problem = f"some programs read {shorten(text)} as {octal}, others as {decimal}"
    return AmbiguousScalar(AMBIGUOUS_YAML_VALUE, text, problem, (octal, decimal))


def _number(text: str, digits: str) -> AmbiguousScalar:
    problem = f"some programs read {shorten(text)} as a number, others as text"
    mantissa, _, exponent = digits.replace("_", "").lower().partition("e")
    fits = len(mantissa) <= MAX_DIGITS and len(exponent) <= 4
    if not digits or not fits or abs(int(exponent or "0")) > _MAX_EXPONENT:
        return AmbiguousScalar(AMBIGUOUS_YAML_VALUE, text, problem)
    plain = format(Decimal(f"{mantissa}e{exponent or 0}"), "f")
    return AmbiguousScalar(AMBIGUOUS_YAML_VALUE, text, problem, (plain,))
