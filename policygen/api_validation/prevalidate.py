"""Fast path for validation: accepts objects that a server certainly accepts, in compiled code.

What is accepted here has no refusals (a property test shows that); `refusals` checks the rest. A
structural schema becomes a JSON Schema that accepts the same or less: no repeated entries in sets,
only the common form of a time, and so on. CEL rules and the keys of list entries, which JSON Schema
cannot express, are checked after it.

It saves a tenth of the processor time of linting 10,000 mixed manifests (`benchmarks/lint_mixed.py`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from policygen.api_validation import (
    cel,
    object_code,
    prevalidation_schema,
    schemas,
    workload_code,
)
from policygen.api_validation.structural import Schema
from policygen.core.finding import Path

METADATA: Path = ("metadata",)

Fill = Callable[[Any], Any]
"""Returns a value with its defaults, or raises _UnsureError."""


class Acceptor:
    """Accepts objects of one kind, as policygen's readers return them (1.0 is the integer 1)."""

    def __init__(self, served: schemas.ServedKind) -> None:
        self._code = object_code.of_kind(served)
        self._drops_status = served.status_dropped
        self._validator, self._key = _validator(served)
        parts = {**served.schema["properties"]}
        del parts["metadata"]  # the JSON Schema checks it
        self._rest = _rest({**served.schema, "properties": parts}, custom=served.custom)

    def accepts(self, thing: Mapping[str, Any]) -> bool:
        """Whether a server certainly accepts the object; False if that is not known."""
        return self.unsure_part(thing) is None

    def unsure_part(self, thing: Mapping[str, Any]) -> Path | None:
        """The path of the one entry, or the metadata, with all that a server may refuse in the object.

        None if a server certainly accepts the object. Empty if it may refuse several entries, or if it
        is not known which.
        """
        if self._code is not None and next(self._code(thing), None) is not None:
            return ()
        try:
            part = self._part(thing)
        except (ValueError, KeyError):
            return ()  # a number that JSON Schema cannot check, or a key such as 01, which its path has as 1
        if part and part != METADATA:
            thing = _without(thing, part)
        return part if part == () or self._accepts_rest(thing) else ()

    def _part(self, thing: Mapping[str, Any]) -> Path | None:
        """`unsure_part` for the JSON Schema alone. Raises ValueError or KeyError if that is not known."""
        if self._validator.is_valid(self._instance(thing)):
            return None
        if self._validator.is_valid(self._instance({**thing, "metadata": {"name": "a"}})):
            return METADATA
        errors = self._validator.iter_errors(self._instance(thing))
        paths = {path for error in errors for path in self._entries(error)}
        path = _named(thing, paths.pop()) if len(paths) == 1 else ()
        return path if path and isinstance(path[-1], str) else ()

    def _accepts_rest(self, thing: Mapping[str, Any]) -> bool:
        """Whether the object passes the checks that the JSON Schema cannot express."""
        try:
            if self._rest is not None:
                self._rest(thing)
        except (ValueError, _UnsureError):
            return False
        return True

    def _entries(self, error: Any) -> Iterator[Path]:
        """The entries of mappings that an error of the JSON Schema is about."""
        path: Path = tuple(error.instance_path[bool(self._key) :])
        if error.kind.name == "additionalProperties":
            yield from ((*path, name) for name in error.kind.unexpected)
        else:
            yield path

    def _instance(self, thing: Mapping[str, Any]) -> Any:
        """What the JSON Schema is about."""
        if self._drops_status and "status" in thing:
            thing = {key: value for key, value in thing.items() if key != "status"}
        return {self._key: thing} if self._key else thing


@cache
def acceptor(api_version: str, kind: str) -> Acceptor:
    """The acceptor of a kind that a recorded server serves. Raises LookupError for other kinds."""
    served = schemas.served(api_version, kind)
    if served is None:
        raise LookupError(f"policygen has no schema for kind {kind} of {api_version}")
    return Acceptor(served)


def _named(thing: Any, path: Path) -> Path:
    """A path of an error with the keys of mappings; it has a key of digits as a number.

    Raises KeyError if there is no such key.
    """
    steps: list[str | int] = []
    for step in path:
        steps.append(str(step) if isinstance(thing, dict) else step)
        thing = thing[steps[-1]]
    return tuple(steps)


def _without(thing: Any, path: Path) -> Any:
    """A copy without the entry at a path, which shares all other values."""
    made = thing.copy()
    if path[1:]:
        made[path[0]] = _without(thing[path[0]], path[1:])
    else:
        del made[path[0]]
    return made


def _validator(served: schemas.ServedKind) -> tuple[Any, str]:
    """The validator of a kind, and the key under which it expects the object; empty without one."""
    if served.name in workload_code.tree():
        return _of_pods(), served.name
    return _compiled(prevalidation_schema.whole(served)), ""


@cache
def _of_pods() -> Any:
    """The validator of all built-in kinds with pods. One for each kind would take 40 ms more."""
    kinds = [schemas.served(*name.split(" ")) for name in workload_code.tree()]
    return _compiled(prevalidation_schema.of_pods(it for it in kinds if it is not None))


def _compiled(schema: Schema) -> Any:
    """The validator. Its patterns have no lookaround, so they need only the faster engine.

    The messages of its errors are not used, so they omit the values.
    """
    import jsonschema_rs  # noqa: PLC0415 - 30 ms that a few objects need not pay

    engine = jsonschema_rs.RegexOptions()
    return jsonschema_rs.Draft202012Validator(schema, pattern_options=engine, mask="")


class _UnsureError(Exception):
    """A check after the JSON Schema failed, so the full check decides."""


def _rest(schema: Schema, *, custom: bool, filled: bool = False) -> Fill | None:
    """The check of what the JSON Schema cannot express in a value; None if it can express all.

    It returns the value with the defaults that a CEL rule or the keys of a list may read. `filled`:
    such a rule or list is above.
    """
    rules = _rules(schema)
    keys = schema.get("x-kubernetes-list-map-keys", ()) if schema.get("type") == "array" else ()
    if not custom:
        keys = keys[:1]  # so that no default is needed; Go types have no rules
    filled = custom and (filled or bool(rules or keys))
    if schema.get("type") == "array":
        inner = _rest(schema["items"], custom=custom, filled=filled)
        if not custom:
            return _distinct(inner, *keys) if inner or keys else None
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
        raise NotImplementedError(
            "policygen cannot check validation rules under additionalProperties"
        )
    if not custom:
        return _parts({name: inner for name, inner, _ in parts if inner}) if parts else None
    return _fields(parts, rules) if parts or rules else None


def _rules(schema: Schema) -> tuple[cel.CelRule, ...]:
    found = map(cel.compiled, schema.get("x-kubernetes-validations", ()))
    return tuple(rule for rule in found if rule is not None)


def _parts(checks: Mapping[str, Fill]) -> Fill:
    """The check of a mapping of a Go type. It has no rules, so no default is needed."""

    def check(value: Any) -> Any:
        for name, entry in value.items():
            if name in checks and entry is not None:
                checks[name](entry)
        return value

    return check


def _distinct(inner: Fill | None, key: str = "") -> Fill:
    """The check of a list of a Go type, whose entries need distinct values of a key."""

    def check(value: Any) -> Any:
        if inner is not None:
            for entry in value:
                inner(entry)
        if key:
            found = {entry.get(key) for entry in value}
            if len(found) < len(value) or None in found:
                raise _UnsureError
        return value

    return check


def _fields(parts: list[tuple[str, Fill | None, Any]], rules: tuple[cel.CelRule, ...]) -> Fill:
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


def _entries(inner: Fill | None, keys: Sequence[str], rules: tuple[cel.CelRule, ...]) -> Fill:
    def fill(value: Any) -> Any:
        made = value if inner is None else [inner(entry) for entry in value]
        if keys:
            found = {tuple(map(entry.get, keys)) for entry in made}
            if len(found) < len(made) or (None,) in found:
                raise _UnsureError
        _obey(rules, made)
        return made

    return fill


def _obey(rules: tuple[cel.CelRule, ...], value: Any) -> None:
    for rule in rules:
        if not rule.holds(value):
            raise _UnsureError
