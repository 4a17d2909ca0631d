"""Strings, numbers and booleans as an API server reads them.

A schema checks a custom kind (k8s.io/kube-openapi `pkg/validation`); Go types check a built-in one
when they decode its JSON. Each check here notes where they differ.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from policygen.api_validation.refusal import Reason, Refusal, Spot, about, named, path_to
from policygen.core import quantity
from policygen.core.finding import Verb
from policygen.core.label_grammar import DNS_LABEL, ENDS, SUBDOMAIN
from policygen.core.quoting import bare, counted, shown
from policygen.core.suggest import Names, suggest

Check = Callable[[Any, Spot, list[Refusal]], Any]
"""Appends the refusals of a value; returns the value with its defaults."""

ValueCheck = Callable[[Any], tuple[Reason, str] | None]
"""The reason and message of a refused value of the right type; the field comes before the message."""

INTEGER_BITS = {"int32": 32, "int64": 64, None: 64}
STRING = "a string"
EXACT_FLOAT = 1 << 53
"""Up to here the server reads a number with a fraction of zero as an integer."""

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})", re.ASCII)
_QUANTITY = re.compile(
    r" *(?! *\Z)[+-]?[0-9]*\.?[0-9]*([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,18})? *", re.ASCII
)  # Go reads no digits at all as 0
_TIME = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII
)  # RFC 3339, as Go's time.Parse takes it


def check(schema: dict[str, Any], *, custom: bool) -> Check:
    """The check of a scalar of this schema."""
    is_right, type_name = _type(schema, custom=custom)
    value_checks = tuple(_value_checks(schema, custom=custom))
    absent = not custom or bool(schema.get("nullable"))

    def check_value(value: Any, spot: Spot, out: list[Refusal]) -> Any:
        if not is_right(value):
            if value is None and absent:
                return value
            fix = _requoted(value, schema)
            message = f"{named(spot)} must be {type_name}, not {shown(value)}{_advice(fix, schema)}"
            out.append(Refusal(path_to(spot), Reason.TYPE, message, fix=fix))
            return value
        for value_check in value_checks:
            fault = value_check(value)
            if fault is not None:
                reason, text = fault
                fix = _respelt(value, schema) if reason is Reason.VALUE else None
                meant = _meant(value, schema) if reason is Reason.VALUE else ""
                message = about(spot, text)
                out.append(Refusal(path_to(spot), reason, message, meant=meant, fix=fix))
        return value

    return check_value


def _advice(fix: tuple[Verb, str | int | bool] | None, schema: dict[str, Any]) -> str:
    if fix is None:
        return f"; {suggest('', schema['enum'])}" if "enum" in schema else ""
    return "; put the value in quotes" if fix[0] is Verb.QUOTE else "; remove the quotes"


def _requoted(value: Any, schema: dict[str, Any]) -> tuple[Verb, str | int | bool] | None:
    """The same characters with or without quotes, if they then have the right type."""
    type_name = schema.get("type")
    if _quotable(value, schema):
        return Verb.QUOTE, ""
    if type_name == "boolean" and value in ("true", "false"):
        return Verb.REWRITE, value == "true"
    if type_name == "integer" and isinstance(value, str) and _INTEGER.fullmatch(value):
        return Verb.REWRITE, int(value)
    return None


def _quotable(value: Any, schema: dict[str, Any]) -> bool:
    """Whether the same characters in quotes have the right type, such as 10.5 for a quantity."""
    if schema.get("x-kubernetes-int-or-string"):
        pattern = schema.get("pattern")
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return bool(number and pattern and _pattern(pattern)(str(value)) is None)
    # No value of an enumeration is a number or a boolean.
    is_text = schema.get("type") == "string" and "enum" not in schema
    return is_text and isinstance(value, bool | int | float)


def _respelt(value: Any, schema: dict[str, Any]) -> tuple[Verb, str] | None:
    """The one value of an enumeration that differs in the case of letters only."""
    if not isinstance(value, str):
        return None
    same = [it for it in schema["enum"] if it.lower() == value.lower()]
    return (Verb.REWRITE, same[0]) if len(same) == 1 else None


def _meant(value: Any, schema: dict[str, Any]) -> str:
    """The value of an enumeration that resembles a text, or ""."""
    return Names(schema["enum"]).meant(value) if isinstance(value, str) else ""


def _type(schema: dict[str, Any], *, custom: bool) -> tuple[Callable[[Any], bool], str]:
    """The check of the type of a value, and the name of that type."""
    if schema.get("x-kubernetes-int-or-string"):
        number = _is_integer if custom else _is_int
        return lambda value: isinstance(value, str) or number(value), "an integer or a string"
    if schema.get("x-policygen-type") == "quantity":
        return _is_text_or_number, "a quantity such as 500m or 80Gi"
    match schema["type"]:
        case "string":
            return lambda value: isinstance(value, str), STRING
        case "boolean":
            return lambda value: isinstance(value, bool), "true or false"
        case "integer":
            return (_is_integer if custom else _is_int), "an integer"
        case "number":
            return (
                lambda value: _is_text_or_number(value) and not isinstance(value, str),
                "a number",
            )
    raise ValueError(f"not a scalar: {schema['type']}")


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_integer(value: Any) -> bool:
    """Also 1.0, which the schema reads as 1, but no number that only a float can hold."""
    if isinstance(value, float):
        return value.is_integer() and abs(value) < EXACT_FLOAT
    return _is_int(value) and -(1 << 63) <= value < 1 << 63


def _is_text_or_number(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _value_checks(schema: dict[str, Any], *, custom: bool) -> Iterator[ValueCheck]:
    if "enum" in schema:
        # To Go types an empty string is a missing field.
        yield _enum(schema["enum"] if custom else [*schema["enum"], ""], schema["enum"])
    if schema.get("x-policygen-type") == "quantity":
        yield _quantity
    if schema.get("type") == "integer":
        yield _bits(INTEGER_BITS[schema.get("format")])
    elif schema.get("x-kubernetes-int-or-string") and not custom:
        yield _bits(32)
    elif "format" in schema:
        yield _FORMATS[schema["format"]]
    if "minimum" in schema or "maximum" in schema:
        yield _range(schema)
    if "minLength" in schema or "maxLength" in schema:
        yield length(schema, "Length", "character", "characters")
    if "pattern" in schema:
        yield _pattern(schema["pattern"])


def _enum(known: list[Any], listed: list[Any]) -> ValueCheck:
    def check_value(value: Any) -> tuple[Reason, str] | None:
        if value in known:
            return None
        advice = suggest(value, listed) if isinstance(value, str) else f"known: {listed}"
        return Reason.VALUE, f"{shown(value)} is not supported; {advice}"

    return check_value


def _bits(bits: int) -> ValueCheck:
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1

    def check_value(value: Any) -> tuple[Reason, str] | None:
        if isinstance(value, str) or low <= value <= high:
            return None
        return Reason.RANGE, f"{shown(value)} does not fit in int{bits}; write at most {high}"

    return check_value


def _range(schema: dict[str, Any]) -> ValueCheck:
    low, high = schema.get("minimum"), schema.get("maximum")

    def check_value(value: Any) -> tuple[Reason, str] | None:
        if low is not None and value < low:
            return Reason.RANGE, f"{shown(value)} is too small; write at least {low}"
        if high is not None and value > high:
            return Reason.RANGE, f"{shown(value)} is too large; write at most {high}"
        return None

    return check_value


def length(schema: dict[str, Any], word: str, one: str, many: str) -> ValueCheck:
    """The check of a length or number of entries: `minLength` and `maxLength`, or similar."""
    low, high = schema.get(f"min{word}", 0), schema.get(f"max{word}")

    def check_value(value: Any) -> tuple[Reason, str] | None:
        count = len(value)
        amount = counted(count, one, many) if count else f"no {many}"
        if count < low:
            return Reason.LENGTH, f"has {amount}; write at least {low}"
        if high is not None and count > high:
            return Reason.LENGTH, f"has {amount}; write at most {high}"
        return None

    return check_value


def _pattern(pattern: str) -> ValueCheck:
    # In Go, $ is only the end of the text; in Python also before a last line break. In Go, (?i)
    # may follow the ^.
    text = pattern.removesuffix("$") + r"\Z" if pattern.endswith("$") else pattern
    flags = re.ASCII | (re.IGNORECASE if "(?i)" in text else 0)
    found = re.compile(text.replace("(?i)", ""), flags).search

    def check_value(value: Any) -> tuple[Reason, str] | None:
        if not isinstance(value, str) or found(value):
            return None
        return (
            Reason.FORMAT,
            f"{shown(value)} is not {_FORMS.get(pattern, f'valid; write a value that matches {bare(pattern)}')}",
        )

    return check_value


_KEY = rf"({SUBDOMAIN}/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])"
_UNSIGNED = r"(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
_FORMS = {
    rf"^{SUBDOMAIN}$": f'a valid name; write lower-case letters, digits, "-" and ".", {ENDS}',
    f"^{DNS_LABEL}$": f'a valid name; write lower-case letters, digits and "-", {ENDS}',
    f"^{_KEY}$": f'a valid label key; write letters, digits, "-", "_" and ".", {ENDS}',
    rf"^(\+|-)?{_UNSIGNED}(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?{_UNSIGNED}))?$": (
        "a valid quantity; write a number such as 500m or 80Gi"
    ),
}
"""What the patterns of most schemas describe, and what to write."""


def _quantity(value: Any) -> tuple[Reason, str] | None:
    if not isinstance(value, str) or _QUANTITY.fullmatch(value):
        return None
    return Reason.FORMAT, quantity.fault(value)


def _time(value: str) -> tuple[Reason, str] | None:
    if _TIME.fullmatch(value):
        try:
            datetime.fromisoformat(value[:19])
        except ValueError:
            pass
        else:
            return None
    return (
        Reason.FORMAT,
        f"{shown(value)} is not a valid time; write a time such as 2026-01-31T12:00:00Z",
    )


def byte_fault(value: str) -> tuple[Reason, str] | None:
    """The refusal of a text that is not base64; line breaks are ignored."""
    try:
        base64.b64decode(value.replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        return Reason.FORMAT, "is not valid base64; encode the value in base64"
    return None


_FORMATS: dict[str, ValueCheck] = {"date-time": _time, "byte": byte_fault}
