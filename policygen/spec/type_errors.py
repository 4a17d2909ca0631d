"""Messages about a value of a wrong type: its type, and what to write instead."""

import math
import re
from collections.abc import Sequence
from typing import Any

from policygen.core.quoting import listed, quoted, short, shown
from policygen.documents.rules import NUMBER_TOO_LONG
from policygen.documents.scalars import AmbiguousScalar, read
from policygen.spec.subschema import Json, fits, resolved, types_of

_NUMERIC = frozenset({"integer", "number"})
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9._/-]*")
_NUMBER_AND_UNIT = re.compile(r"([0-9]{1,9}) ?[A-Za-z]+")
_TAINT = re.compile(
    r"(?P<key>[A-Za-z0-9][A-Za-z0-9._/-]*)(=(?P<value>[A-Za-z0-9._-]*))?:"
    r"(?P<effect>NoSchedule|PreferNoSchedule|NoExecute)"
)
"""A taint as kubectl writes it."""
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")

_WORDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
}

_BOOLEANS = {
    **dict.fromkeys(("true", "yes", "on", "y"), "true"),
    **dict.fromkeys(("false", "no", "off", "n"), "false"),
}


def message(value: Any, schema: Json, types: Sequence[str], written: str | None, root: Json) -> str:
    """Why a value has another type than its schema, a part of `root`, allows.

    `written` is the value's text in the input, if that is known.
    """
    if isinstance(value, str):
        return _text(value, schema, types, root)
    if isinstance(value, bool):
        return _scalar(shown(value), "a boolean", schema, types)
    if isinstance(value, int | float):
        text = short(written or f"{value}")
        return _scalar(text, _number(value, types), schema, types)
    if "contentMediaType" in schema:
        return f'{shown(value)} is not text; write "|" after the key, and indent the text below'
    fault = f"{shown(value)} is not allowed here; write {expected(schema, types)}"
    entry = resolved(root, schema.get("items", {})).get("properties", {})
    if isinstance(value, dict) and value and value.keys() <= entry.keys():
        return f'{fault}: write "- " before the first key, and indent the other keys'
    required = resolved(root, schema.get("items", {})).get("required", ())
    if isinstance(value, dict) and value and len(required) == 1:
        keys = [f"- {required[0]}: {key}" for key in list(value)[:1]]
        return f"{fault} with an entry for each key, such as {quoted(keys[0])}"
    if isinstance(value, list) and value and "object" in types and _are_pairs(value):
        return f'{fault}: remove "- " before each key'
    return fault


def _are_pairs(entries: list[Any]) -> bool:
    """Whether all entries are mappings, of different keys."""
    keys = [key for entry in entries if isinstance(entry, dict) for key in entry]
    return all(isinstance(entry, dict) for entry in entries) and len({*keys}) == len(keys)


def ambiguous_scalar(scalar: AmbiguousScalar, schema: Json) -> str:
    """What to write in this field instead of a scalar that readers disagree about."""
    types = types_of(schema)
    if scalar.rule is NUMBER_TOO_LONG:
        remedies = [] if _NUMERIC.isdisjoint(types) else list(scalar.instead)
    else:
        remedies = [plain for plain in scalar.instead if fits(schema, read(plain))]
    if fits(schema, scalar.text):
        remedies.append(scalar.in_quotes)
    return scalar.message_with(remedies or [expected(schema, types)])


def expected(schema: Json, types: Sequence[str]) -> str:
    """What a value must be, with an example if the schema has a short one."""
    if "enum" in schema or "const" in schema:
        return listed([str(allowed) for allowed in schema.get("enum", [schema.get("const")])])
    texts = [_WORDS[name] for name in types]
    if tuple(types) == ("object",) and schema.get("required"):
        texts = [f"a mapping with {listed(schema['required'], 'and')}"]
    if schema.get("format") == "kubernetes-quantity":
        texts = ["a quantity"]
    examples = [shown(it) for it in schema.get("examples", ()) if not isinstance(it, dict | list)]
    if examples:
        texts[0] += f" such as {examples[0]}"
    return listed(texts)


def _number(value: float, types: Sequence[str]) -> str:
    if not math.isfinite(value):
        return "not a finite number"
    return "a fraction" if "integer" in types and isinstance(value, float) else "a number"


def _scalar(text: str, found: str, schema: Json, types: Sequence[str]) -> str:
    if tuple(types) == ("string",) and fits(schema, text):
        return f'{text} is {found}; write "{text}" in quotes'
    return f"{text} is {found}; write {expected(schema, types)}"


def _text(text: str, schema: Json, types: Sequence[str], root: Json) -> str:
    plain = _unquoted(text.strip(), types)
    if plain is not None and fits(schema, read(plain)):
        return f"{quoted(text)} is text; write {plain} without quotes"
    number = _NUMBER_AND_UNIT.fullmatch(text.strip())
    if number and "integer" in types and fits(schema, int(number[1])):
        return f"{quoted(text)} is text; write {number[1]}, without a unit"
    taint = _TAINT.fullmatch(text)
    if taint and {"key", "value", "effect"} <= schema.get("properties", {}).keys():
        value = f"value: {taint['value']}, " if taint["value"] else ""
        return f"{quoted(text)} is text; write {{key: {taint['key']}, {value}effect: {taint['effect']}}}"
    fault = f"{quoted(text)} is text; write {expected(schema, types)}"
    if "array" in types:
        fault += ", even if it has only one entry"
    entry_text = _as_entry(text, schema, root)
    return f"{fault}: {entry_text}" if entry_text else fault


def _as_entry(text: str, schema: Json, root: Json) -> str | None:
    """The text as an entry of the list, or as the required value of the mapping, if it is then valid."""
    if not _PLAIN.fullmatch(text) or read(text) != text:
        return None
    match types_of(schema):
        case ("string",):
            return text if fits(schema, text) else None
        case ("array",):
            entry = _as_entry(text, resolved(root, schema.get("items", {})), root)
            return f"[{entry}]" if entry else None
        case ("object",) if len(schema.get("required", ())) == 1:
            (name,) = schema["required"]
            value = _as_entry(text, resolved(root, schema["properties"][name]), root)
            return f"{{{name}: {value}}}" if value else None
    return None


def _unquoted(text: str, types: Sequence[str]) -> str | None:
    """The same value without quotes if its type is then allowed, else None."""
    if "boolean" in types:
        return _BOOLEANS.get(text.lower())
    match = _NUMBER.fullmatch(text)
    if match and ("number" in types or ("integer" in types and not match[1])):
        return short(text)
    return None
