"""A quick yes: objects that a server surely accepts, told in compiled code.

Sound and not complete: what is accepted here has no refusals (a property test holds that), and
what is not accepted is for `refusals` to judge. A structural schema becomes a JSON Schema that takes
the same or less: no repeated entries in sets, only the common form of a time, and so on. What
JSON Schema cannot say, CEL rules and lists whose entries differ in their keys, is judged after it.
The entries of an object and of its spec are judged one by one, and each but once.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property, partial
from typing import Any, NamedTuple

from policygen.api_validation import cel, prevalidation_schema, schemas
from policygen.api_validation.structural import Schema

Fill = Callable[[Any], Any]
"""Returns a value with its defaults, or raises _UnsureError."""


class Acceptor:
    """Tells that a server surely accepts objects of one kind, and looks at no part of them twice.

    An object is data as policygen's readers give it: they make an integer of a number without a
    fraction, and one part of all that are written alike (see `spec.shared`). Nobody changes it
    while this is in use.
    """

    def __init__(self, served: schemas.Served) -> None:
        self._drops_status = served.status_dropped
        self._whole = _InParts(_shape(served.api_version, served.kind))

    def accepts(self, thing: Mapping[str, Any]) -> bool:
        """Whether it surely does."""
        if self._drops_status and "status" in thing:
            thing = {key: value for key, value in thing.items() if key != "status"}
        try:
            self._whole.fill(thing)
        except (ValueError, _UnsureError):  # or a number that JSON Schema does not know
            return False
        return True


class _Part:
    """What is wanted of one entry of a mapping."""

    def __init__(
        self, schema_of: Callable[[], Any], rest: Fill | None = None, inner: "_Shape | None" = None
    ) -> None:
        self._schema_of = schema_of  # made of the entries that come by: schemas of pods are large
        self._rest = rest
        self.inner = inner
        """Set where the parts of the entry are judged each by itself."""

    @cached_property
    def _is_valid(self) -> Callable[[Any], bool]:
        import jsonschema_rs  # noqa: PLC0415 - 30 ms that a few objects need not pay

        return jsonschema_rs.Draft202012Validator(self._schema_of()).is_valid

    def fill(self, value: Any) -> Any:
        """The value with its defaults. Raises _UnsureError, or ValueError."""
        if not self._is_valid(value):
            raise _UnsureError
        return value if self._rest is None else self._rest(value)


class _Shape(NamedTuple):
    """What is wanted of a mapping."""

    parts: Mapping[str, _Part]
    required: frozenset[str]
    defaults: Mapping[str, Any]
    """Those that a rule may look at."""
    rules: tuple[cel.Rule, ...]


class _InParts:
    """Judges mappings of one shape, whose entries are judged once each."""

    def __init__(self, shape: _Shape) -> None:
        self._shape = shape
        self._inner = {key: _InParts(it.inner) for key, it in shape.parts.items() if it.inner}
        self._known: dict[str, dict[int, tuple[Any, Any]]] = {key: {} for key in shape.parts}

    def fill(self, value: Any) -> Any:
        """The value with its defaults. Raises _UnsureError, or ValueError."""
        shape = self._shape
        if value.__class__ is not dict or not shape.required <= value.keys():
            raise _UnsureError
        made = value
        for key, entry in value.items():
            known = self._known.get(key)
            if known is None:
                raise _UnsureError
            found = known.get(id(entry))
            if found is not None:
                new = found[1]
            elif key in self._inner:
                new = self._inner[key].fill(entry)
            else:
                new = shape.parts[key].fill(entry)
                if key != "metadata":  # which has the name
                    # With the entry: what is gone may leave its identity to another.
                    known[id(entry)] = entry, new
            if new is not entry:
                made = dict(value) if made is value else made
                made[key] = new
        for key, default in shape.defaults.items():
            if key not in value:
                made = dict(value) if made is value else made
                made[key] = default
        _obey(shape.rules, made)
        return made


@cache
def _shape(api_version: str, kind: str) -> _Shape:
    served = schemas.served(api_version, kind)
    if served is None:
        raise LookupError(f"no server that was asked serves {kind} in {api_version}")
    whole = _apart(served.schema, custom=served.custom, filled=False, inside=("spec",))
    parts = {**whole.parts, "metadata": _Part(partial(prevalidation_schema.metadata, served))}
    return whole._replace(parts=parts, required=whole.required | {"metadata"})


def _apart(schema: Schema, *, custom: bool, filled: bool, inside: Sequence[str] = ()) -> _Shape:
    """The shape of a mapping; `inside` names the entries that are judged in parts as well."""
    required = prevalidation_schema.required(schema, custom=custom)
    rules = _rules(schema) if custom else ()
    filled = filled or bool(rules)
    parts, defaults = {}, {}
    for name, part in schema.get("properties", {}).items():
        rest = _rest(part, custom=custom, filled=filled)
        inner = None
        if name in inside and _is_plain(part):
            inner = _apart(part, custom=custom, filled=filled)
        schema_of = partial(
            prevalidation_schema.entry, part, custom=custom, required=name in required
        )
        parts[name] = _Part(schema_of, rest, inner)
        if filled and "default" in part:
            defaults[name] = rest(part["default"]) if rest else part["default"]
    return _Shape(parts, frozenset(required), defaults, rules)


def _is_plain(schema: Schema) -> bool:
    """Whether a mapping is the sum of its parts."""
    others = ("additionalProperties", "x-kubernetes-preserve-unknown-fields", "minProperties")
    return schema.get("type") == "object" and not any(
        it in schema for it in (*others, "maxProperties")
    )


class _UnsureError(Exception):
    """What a JSON Schema cannot say is not so."""


def _rest(schema: Schema, *, custom: bool, filled: bool = False) -> Fill | None:
    """What judges the rest of a value that the JSON Schema takes; None where nothing is left.

    It returns the value with those defaults that a CEL rule or the keys of a list may look at:
    `filled` says that one of them is above.
    """
    if not custom:
        return None  # Go types have neither
    rules = _rules(schema)
    keys = schema.get("x-kubernetes-list-map-keys", ()) if schema.get("type") == "array" else ()
    filled = filled or bool(rules or keys)
    if schema.get("type") == "array":
        inner = _rest(schema["items"], custom=custom, filled=filled)
        return _entries(inner, keys, rules) if inner or keys or rules else None
    parts = []
    for name, part in schema.get("properties", {}).items():
        inner = _rest(part, custom=custom, filled=filled)
        default = part.get("default") if filled else None
        if inner or default is not None:
            parts.append(
                (name, inner, inner(default) if inner and default is not None else default)
            )
    others = schema.get("additionalProperties")
    inner = others and _rest(others, custom=custom, filled=filled)
    if inner:
        raise NotImplementedError("rules below additionalProperties")
    return _fields(parts, rules) if parts or rules else None


def _rules(schema: Schema) -> tuple[cel.Rule, ...]:
    found = map(cel.compiled, schema.get("x-kubernetes-validations", ()))
    return tuple(rule for rule in found if rule is not None)


def _fields(parts: list[tuple[str, Fill | None, Any]], rules: tuple[cel.Rule, ...]) -> Fill:
    def fill(value: Any) -> Any:
        made = value
        for name, inner, default in parts:
            entry = value.get(name)
            if entry is None:
                new = default
            elif inner is None:
                continue
            else:
                new = inner(entry)
            if new is not entry:
                made = dict(value) if made is value else made
                made[name] = new
        _obey(rules, made)
        return made

    return fill


def _entries(inner: Fill | None, keys: Sequence[str], rules: tuple[cel.Rule, ...]) -> Fill:
    def fill(value: Any) -> Any:
        made = value if inner is None else [inner(entry) for entry in value]
        if keys and len({tuple(map(entry.get, keys)) for entry in made}) < len(made):
            raise _UnsureError
        _obey(rules, made)
        return made

    return fill


def _obey(rules: tuple[cel.Rule, ...], value: Any) -> None:
    for rule in rules:
        if not rule.holds(value):
            raise _UnsureError
