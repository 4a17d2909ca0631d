"""Texts, numbers and truth values as an API server reads them.

A custom kind is judged by its schema (k8s.io/kube-openapi `pkg/validation`), a built-in one by
the Go types that its JSON is decoded into; they differ, and each check says in what.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from policygen.api_validation.refusal import Refusal, Spot, path_to
from policygen.core.finding import Verb
from policygen.core.quoting import bare, shown
from policygen.core.suggest import suggest

Check = Callable[[Any, Spot, list[Refusal]], Any]
"""Appends what is refused of a value; returns the value with its defaults."""

Judge = Callable[[Any], tuple[str, str] | None]
"""The rule and message of what is refused about a value of the right type."""

INTEGER_BITS = {"int32": 32, "int64": 64, None: 64}
STRING = "a string"
EXACT_FLOAT = 1 << 53
"""Up to here the server takes a number with a fraction of zero for an integer."""

_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,17})", re.ASCII)
_QUANTITY = re.compile(
    r" *(?! *\Z)[+-]?[0-9]*\.?[0-9]*([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,18})? *", re.ASCII
)  # Go reads no digits at all as 0
_TIME = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII
)  # RFC 3339, as Go's time.Parse takes it


def check(schema: dict[str, Any], *, custom: bool) -> Check:
    """How a scalar of this schema is judged."""
    right, wanted = _type(schema, custom=custom)
    judges = tuple(_judges(schema, custom=custom))
    absent = not custom or bool(schema.get("nullable"))

    def judge(value: Any, spot: Spot, out: list[Refusal]) -> Any:
        if not right(value):
            if value is None and absent:
                return value
            message = f"{shown(value)} stands where the server takes {wanted}"
            mend = _retyped(value, schema)
            message += _remedy(mend, schema)
            out.append(Refusal(path_to(spot), "wrong-type", message, mend=mend))
            return value
        for each in judges:
            fault = each(value)
            if fault is not None:
                mend = _respelt(value, schema) if fault[0] == "unsupported-value" else None
                out.append(Refusal(path_to(spot), *fault, mend=mend))
        return value

    return judge


def _remedy(mend: tuple[Verb, str | int | bool] | None, schema: dict[str, Any]) -> str:
    if mend is None:
        return f"; {suggest('', schema['enum'])}" if "enum" in schema else ""
    return "; put it in quotes" if mend[0] is Verb.QUOTE else "; take the quotes away"


def _retyped(value: Any, schema: dict[str, Any]) -> tuple[Verb, str | int | bool] | None:
    """The same characters with or without quotes, where that is of the right type."""
    wanted = schema.get("type")
    if _quotable(value, schema):
        return Verb.QUOTE, ""
    if wanted == "boolean" and value in ("true", "false"):
        return Verb.REWRITE, value == "true"
    if wanted == "integer" and isinstance(value, str) and _WHOLE.fullmatch(value):
        return Verb.REWRITE, int(value)
    return None


def _quotable(value: Any, schema: dict[str, Any]) -> bool:
    """Whether the same characters as a text are of the right type: also 10.5 for a quantity."""
    if schema.get("x-kubernetes-int-or-string"):
        pattern = schema.get("pattern")
        return bool(isinstance(value, float) and pattern and _pattern(pattern)(str(value)) is None)
    # No word of an enumeration is a number or a truth value.
    is_text = schema.get("type") == "string" and "enum" not in schema
    return is_text and isinstance(value, bool | int | float)


def _respelt(value: Any, schema: dict[str, Any]) -> tuple[Verb, str] | None:
    """The one value of an enumeration that differs in the case of letters only."""
    if not isinstance(value, str):
        return None
    alike = [it for it in schema["enum"] if it.lower() == value.lower()]
    return (Verb.REWRITE, alike[0]) if len(alike) == 1 else None


def _type(schema: dict[str, Any], *, custom: bool) -> tuple[Callable[[Any], bool], str]:
    """What tells a value of the right type, and that type in words."""
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
    raise ValueError(f"no scalar: {schema['type']}")


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_integer(value: Any) -> bool:
    """Also 1.0, which the schema takes for 1, and no number that only a float can hold."""
    if isinstance(value, float):
        return value.is_integer() and abs(value) < EXACT_FLOAT
    return _is_int(value) and -(1 << 63) <= value < 1 << 63


def _is_text_or_number(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _judges(schema: dict[str, Any], *, custom: bool) -> Iterator[Judge]:
    if "enum" in schema:
        # To Go types an empty text is a field that was left out.
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


def _enum(known: list[Any], told: list[Any]) -> Judge:
    def judge(value: Any) -> tuple[str, str] | None:
        if value in known:
            return None
        hint = suggest(value, told) if isinstance(value, str) else f"known are {told}"
        return "unsupported-value", f"{shown(value)} is no value of this field; {hint}"

    return judge


def _bits(bits: int) -> Judge:
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1

    def judge(value: Any) -> tuple[str, str] | None:
        if isinstance(value, str) or low <= value <= high:
            return None
        return "out-of-range", f"{shown(value)} is no int{bits}; write at most {high}"

    return judge


def _range(schema: dict[str, Any]) -> Judge:
    low, high = schema.get("minimum"), schema.get("maximum")

    def judge(value: Any) -> tuple[str, str] | None:
        if low is not None and value < low:
            return "out-of-range", f"{shown(value)} is too small; write at least {low}"
        if high is not None and value > high:
            return "out-of-range", f"{shown(value)} is too large; write at most {high}"
        return None

    return judge


def length(schema: dict[str, Any], word: str, one: str, many: str) -> Judge:
    """Bounds of how much there is: `minLength` and `maxLength`, or the like."""
    low, high = schema.get(f"min{word}", 0), schema.get(f"max{word}")

    def judge(value: Any) -> tuple[str, str] | None:
        count = len(value)
        said = f"{count or 'no'} {one if count == 1 else many}"
        if count < low:
            return "wrong-length", f"{said} where the server asks for at least {low}"
        if high is not None and count > high:
            return "wrong-length", f"{said} where the server takes at most {high}"
        return None

    return judge


def _pattern(pattern: str) -> Judge:
    # Go's $ is the end of the text, where Python's is also before a last line break, and its
    # (?i) may stand after the ^.
    text = pattern.removesuffix("$") + r"\Z" if pattern.endswith("$") else pattern
    flags = re.ASCII | (re.IGNORECASE if "(?i)" in text else 0)
    found = re.compile(text.replace("(?i)", ""), flags).search

    def judge(value: Any) -> tuple[str, str] | None:
        if not isinstance(value, str) or found(value):
            return None
        return (
            "bad-format",
            f"{shown(value)} {_WORDS.get(pattern, f'does not match {bare(pattern)}')}",
        )

    return judge


_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_KEY = rf"({_LABEL}(\.{_LABEL})*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])"
_UNSIGNED = r"(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
_ENDS = "beginning and ending with a letter or digit"
_WORDS = {
    rf"^{_LABEL}(\.{_LABEL})*$": f'is no name; write lower-case letters, digits, "-" and ".", {_ENDS}',
    f"^{_LABEL}$": f'is no name; write lower-case letters, digits and "-", {_ENDS}',
    f"^{_KEY}$": f'is no label key; write letters, digits, "-", "_" and ".", {_ENDS}',
    rf"^(\+|-)?{_UNSIGNED}(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?{_UNSIGNED}))?$": (
        "is no quantity; write a number such as 500m or 80Gi"
    ),
}
"""The patterns that most schemas have, in words."""


def _quantity(value: Any) -> tuple[str, str] | None:
    if not isinstance(value, str) or _QUANTITY.fullmatch(value):
        return None
    return "bad-format", f"{shown(value)} is no quantity; write a number such as 500m or 80Gi"


def _time(value: str) -> tuple[str, str] | None:
    if _TIME.fullmatch(value):
        try:
            datetime.fromisoformat(value[:19])
        except ValueError:
            pass
        else:
            return None
    return "bad-format", f"{shown(value)} is no time; write one such as 2026-01-31T12:00:00Z"


def _byte(value: str) -> tuple[str, str] | None:
    try:
        base64.b64decode(value.replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        return "bad-format", "this is no base64; encode the bytes"
    return None


_FORMATS: dict[str, Judge] = {"date-time": _time, "byte": _byte}
