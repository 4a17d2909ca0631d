"""Messages about data that breaks a JSON Schema: the fault, and what to write instead."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from jsonschema_rs import ValidationError

from policygen.core import versions
from policygen.core.finding import At, Hit, Path, at_path, dotted
from policygen.core.quoting import bare, counted, listed, quoted, shown
from policygen.core.suggest import Names, suggest
from policygen.spec import name_errors, rules, subschema, type_errors
from policygen.spec.subschema import Json

Raw = Callable[[Path], str | None]

_MAX_PLACES = 2
_TOP = "the top level of the document"

_LARGE = 1_000_000
"""An upper bound from here on only refuses absurd numbers, so messages omit it."""


def explain(
    schema: Json, errors: Iterable[ValidationError], data: Any, document: int, raw: Raw
) -> list[Hit]:
    """A hit for each of the validator's errors about the data, sorted by path."""
    explained = [_SchemaError(error, schema, data, document, raw) for error in errors]
    of_wrong_type = {fault.path for fault in explained if fault.keyword == "type"}
    empty = {fault.path for fault in explained if fault.keyword == "minLength"}
    hits: dict[Hit, Path] = {}
    for fault in explained:
        if fault.keyword != "type" and fault.path in of_wrong_type:
            continue  # a value of a wrong type cannot be checked further
        if fault.keyword == "pattern" and fault.path in empty:
            continue
        for hit in EXPLANATIONS.get(fault.keyword, _other)(fault):
            hits[hit] = hit.at.path if hit.at else ()
    return sorted(hits, key=lambda hit: _order(hits[hit]))


def _order(path: Path) -> list[tuple[bool, int, str]]:
    return [(True, step, "") if isinstance(step, int) else (False, 0, step) for step in path]


class _SchemaError:
    """One error of the validator, with what its explanation needs."""

    __slots__ = ("at", "keyword", "limit", "path", "raw", "root", "schema", "value")

    def __init__(
        self, error: ValidationError, root: Json, data: Any, document: int, raw: Raw
    ) -> None:
        *above, keyword = error.schema_path
        self.keyword = str(keyword)
        self.schema: Json = at_path(root, tuple(above))
        self.limit: Any = self.schema[self.keyword]
        """The value of the keyword."""
        self.root = root
        self.path: Path = tuple(error.instance_path)
        # The error has a copy, in which keys are sorted and what is not JSON is null.
        self.value: Any = at_path(data, self.path)
        self.raw = raw
        self.at = At(document, self.path)

    @property
    def subject(self) -> str:
        """The subject of the message."""
        if not self.path:
            return "the document"
        last = self.path[-1]
        return bare(last) if isinstance(last, str) else f"entry {last + 1}"

    @property
    def mapping(self) -> At:
        """The place of the mapping itself: its key, if it has one."""
        return self.at.on_key() if self.path and isinstance(self.path[-1], str) else self.at


def _type(error: _SchemaError) -> Iterator[Hit]:
    types = (error.limit,) if isinstance(error.limit, str) else tuple(error.limit)
    if error.value is None:
        around = subschema.find(error.root, error.path[:-1]) or {}
        needed = error.path and error.path[-1] in around.get("required", ())
        message = f"{error.subject} has no value; write {type_errors.expected(error.schema, types)}"
        if not needed:
            message += f", or remove {error.subject}"
    else:
        message = type_errors.message(
            error.value, error.schema, types, error.raw(error.path), error.root
        )
        message = _version_fault(error) or message
    yield Hit(rules.WRONG_TYPE, message, error.at)


def _version_fault(error: _SchemaError) -> str:
    """The message about a number where a target version is wanted that would be refused in quotes, too."""
    above, component = error.path[:-1], error.path[-1] if error.path else ""
    written = error.raw(error.path)
    is_number = isinstance(error.value, int | float) and not isinstance(error.value, bool)
    if (
        not is_number
        or above[-1:] != ("target",)
        or component not in versions.SUPPORTED
        or not written
    ):
        return ""
    try:
        versions.parse(str(component), written)
    except ValueError as refused:
        return f"{written} is a number; {str(refused).rpartition('; ')[2]}, in quotes"
    return ""


def _not_allowed(error: _SchemaError) -> Iterator[Hit]:
    allowed = [str(value) for value in ([error.limit] if error.keyword == "const" else error.limit)]
    near = _nearest(error.value, allowed) if isinstance(error.value, str) else None
    if len(allowed) == 1:
        advice = f"write {allowed[0]}"
    elif near:
        advice = f'did you mean "{near}"? The values are {listed(allowed, "and")}'
    else:
        advice = f"write {listed(allowed, 'or')}"
    yield Hit(
        rules.UNSUPPORTED_VALUE, f"{shown(error.value)} is not allowed here; {advice}", error.at
    )


def _nearest(word: str, known: list[str]) -> str | None:
    """The known word that is meant, or None.

    It is equal except for case and punctuation, or the only one that begins with the word and a
    hyphen, or the most similar.
    """
    for candidate in known:
        if _folded(candidate) == _folded(word):
            return candidate
    starting = [it for it in known if it.startswith(f"{word.lower()}-")]
    return starting[0] if len(starting) == 1 else Names(known).meant(word) or None


def _folded(word: str) -> str:
    return re.sub(r"[-_. ]", "", word).lower()


def _unknown_keys(error: _SchemaError) -> Iterator[Hit]:
    known = _unused(error)
    allowed = set(error.schema.get("properties", ()))
    below = _below(error, known)
    moved = below.keys if below else frozenset()
    if below:
        keys = [key for key in error.value if key in moved]
        fields = "unknown field" if len(keys) == 1 else "unknown fields"
        message = f"{fields} {listed(list(map(quoted, keys)), 'and')}; write {'it' if len(keys) == 1 else 'them'} under {below.field}"
        yield Hit(rules.UNKNOWN_FIELD, message, (error.at / keys[0]).on_key())
    for key in error.value:
        if key in allowed or key in moved:
            continue
        at = (error.at / key).on_key()
        near = _nearest(key, known)
        places = [] if near and _folded(near) == _folded(key) else _places(error, key)
        if places:
            advice = _move(error, key, places)
        elif near:
            advice = f'did you mean "{near}"?'
        else:
            advice = suggest(key, known or allowed)
        yield Hit(rules.UNKNOWN_FIELD, f"unknown field {quoted(key)}; {advice}", at)


def _move(error: _SchemaError, key: str, places: Sequence[tuple[str, Json]]) -> str:
    """Where to write a field. A mapping or list cannot be moved to a field of another type."""
    path, schema = places[0]
    below = subschema.resolved(error.root, schema)
    types = subschema.types_of(below)
    if (
        len(places) == 1
        and path != _TOP
        and isinstance(error.value[key], dict | list)
        and types
        and not {"object", "array"} & set(types)
    ):
        return f"write {path}.{key}: {type_errors.expected(below, types)}"
    return f"move the field to {listed([it for it, _ in places])}"


class _Below(NamedTuple):
    """Keys that are written one level too high."""

    field: str
    """The missing field whose value they are."""
    keys: frozenset[str]


def _below(error: _SchemaError, known: Iterable[str]) -> _Below | None:
    """The missing mapping with keys of the user's own, such as instances by MIG profile, to which keys belong.

    None unless there is one such field, and the values have its type.
    """
    fields = {}
    for name in known:
        schema = subschema.resolved(error.root, error.schema["properties"][name])
        values = schema.get("additionalProperties")
        if (
            schema.get("type") == "object"
            and isinstance(values, dict)
            and "properties" not in schema
        ):
            fields[name] = schema
    if len(fields) != 1:
        return None
    [(name, schema)] = fields.items()
    values = subschema.resolved(error.root, schema["additionalProperties"])
    marks = {mark for example in schema.get("examples", ()) for mark in _marks("".join(example))}
    keys = [
        key
        for key, value in error.value.items()
        if (found := _marks(key)) and found <= marks and subschema.fits(values, value)
    ]
    return _Below(name, frozenset(keys)) if keys else None


def _marks(key: str) -> set[str]:
    """The characters of a key that no field of a spec has."""
    return {it for it in key if not it.isalnum()}


def _unused(error: _SchemaError) -> list[str]:
    return [key for key in error.schema.get("properties", ()) if key not in error.value]


def _places(error: _SchemaError, key: str) -> list[tuple[str, Json]]:
    """The nearest places at which the schema has a key of this name, each with the schema of the key.

    Below the mapping with the key, or else from the top.
    """
    here = re.sub(r"\[[0-9]+\]", "[]", dotted(error.at.path))
    below = _nearest_places(error.root, key, [(here, error.schema)])
    return below or _nearest_places(error.root, key, [("", error.root)])


def _nearest_places(
    schema: Json, key: str, level: list[tuple[str, Json]]
) -> list[tuple[str, Json]]:
    found: list[tuple[str, Json]] = []
    while level and not found:
        deeper: list[tuple[str, Json]] = []
        for path, place in level:
            properties = subschema.resolved(schema, place).get("properties", {})
            if key in properties:
                found.append((path or _TOP, properties[key]))
            for name, below in properties.items():
                inner = subschema.resolved(schema, below)
                if "items" in inner:
                    deeper.append((f"{path}.{name}[]".lstrip("."), inner["items"]))
                else:
                    deeper.append((f"{path}.{name}".lstrip("."), inner))
        level = deeper
    return found[:_MAX_PLACES]


def _missing_keys(error: _SchemaError) -> Iterator[Hit]:
    unknown = [key for key in error.value if key not in error.schema.get("properties", {})]
    for key in error.limit:
        if key in error.value or any(_nearest(other, _unused(error)) == key for other in unknown):
            continue  # a misspelled key is reported as such
        what = error.schema["properties"][key]["description"].partition(". ")[0].rstrip(".")
        yield Hit(
            rules.MISSING_FIELD,
            f'"{key}" is missing; write {key} ({_uncapitalised(what)})',
            error.mapping,
        )


def _uncapitalised(sentence: str) -> str:
    return sentence if sentence[1:2].isupper() else sentence[:1].lower() + sentence[1:]


def _out_of_range(error: _SchemaError) -> Iterator[Hit]:
    low, high = error.schema.get("minimum"), error.schema.get("maximum")
    word = "small" if error.keyword == "minimum" else "large"
    if low is not None and high is not None and high < _LARGE:
        advice = f"{low} to {high}"
    else:
        advice = f"{low} or more" if error.keyword == "minimum" else f"{high} or less"
    yield Hit(rules.OUT_OF_RANGE, f"{shown(error.value)} is too {word}; write {advice}", error.at)


def _wrong_count(error: _SchemaError) -> Iterator[Hit]:
    count, limit = len(error.value), error.limit
    bound = "at least" if error.keyword.startswith("min") else "at most"
    has = f"has {counted(count, 'entry', 'entries')}" if count else "is empty"
    message = f"{error.subject} {has}; write {bound} {counted(limit, 'entry', 'entries')}"
    yield Hit(rules.WRONG_LENGTH, message, error.mapping)


def _empty_text(error: _SchemaError) -> Iterator[Hit]:
    yield Hit(
        rules.WRONG_LENGTH,
        f"{error.subject} is empty; write {type_errors.expected(error.schema, ('string',))}",
        error.at,
    )


def _too_long(error: _SchemaError) -> Iterator[Hit]:
    yield Hit(
        rules.INVALID_NAME,
        f"{quoted(error.value)} has {len(error.value)} characters; shorten it to at most {error.limit}",
        error.at,
    )


_FORMATS = {
    "[smhdw]": "duration; write a whole number and a unit (s, m, h, d or w), such as 30m",
    "{4}-": "date; write a date as YYYY-MM-DD",
    "UTC": "time zone; write a name of the time zone database, such as Europe/Berlin, or UTC",
    "https?": "URL; write http:// or https:// and a host, such as http://prometheus-operated.monitoring:9090",
    "_:": 'metric of Prometheus; write letters, digits, "_" and ":", such as vllm:num_requests_running',
    r"\t": "image; write it without spaces, such as registry.example.com/segmenter:1.4",
    "[01]": "time; write hours and minutes as HH:MM, from 00:00 to 23:59",
}
"""What a text is and how to write it, by a part of its pattern that no other pattern has."""


def _bad_form(error: _SchemaError) -> Iterator[Hit]:
    if "[hms]" in error.limit:
        yield Hit(rules.INVALID_VALUE, _duration_fault(error.value), error.at)
        return
    for part, form in _FORMATS.items():
        if part in error.limit:
            yield Hit(rules.INVALID_VALUE, f"{quoted(error.value)} is not a valid {form}", error.at)
            return
    yield from _bad_name(error)


def _duration_fault(text: str) -> str:
    days = re.fullmatch(r"([0-9]{1,5})(d|w)", text.strip())
    example = f"{int(days[1]) * (24 if days[2] == 'd' else 168)}h" if days else "48h"
    return (
        f"{quoted(text)} is not a valid duration; write hours, minutes and seconds, each of at most seven "
        f'digits, such as "{example}"'
    )


def _bad_name(error: _SchemaError) -> Iterator[Hit]:
    if "/" in error.limit:
        message = (
            f"{quoted(error.value)} is not a valid resource name; write a domain, a slash and a name, "
            f"such as {error.schema['examples'][0]}"
        )
    elif r"\." in error.limit:
        message = name_errors.subdomain_fault(error.value)
    else:
        message = name_errors.label_fault(error.value)
    yield Hit(rules.INVALID_NAME, message, error.at)


def _repeated(error: _SchemaError) -> Iterator[Hit]:
    first: dict[str, int] = {}
    for index, entry in enumerate(error.value):
        if not isinstance(entry, str):
            continue  # its type is reported
        if entry in first:
            message = f"{quoted(entry)} is already entry {first[entry] + 1} of this list; remove one of the two"
            yield Hit(rules.DUPLICATE_ENTRY, message, error.at / index)
        first.setdefault(entry, index)


def _other(error: _SchemaError) -> Iterator[Hit]:
    yield Hit(
        rules.UNSUPPORTED_VALUE,
        f"{shown(error.value)} does not pass check {error.keyword} of the JSON Schema; correct the value",
        error.at,
    )


EXPLANATIONS: dict[str, Callable[[_SchemaError], Iterator[Hit]]] = {
    "additionalProperties": _unknown_keys,
    "const": _not_allowed,
    "enum": _not_allowed,
    "maxItems": _wrong_count,
    "maxLength": _too_long,
    "maxProperties": _wrong_count,
    "maximum": _out_of_range,
    "minItems": _wrong_count,
    "minLength": _empty_text,
    "minProperties": _wrong_count,
    "minimum": _out_of_range,
    "pattern": _bad_form,
    "required": _missing_keys,
    "type": _type,
    "uniqueItems": _repeated,
}
"""Keyword of JSON Schema to the function that explains its errors."""
