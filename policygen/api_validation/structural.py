"""Structural schemas: what an API server prunes, fills in, and refuses, in its order.

Source: k8s.io/apiextensions-apiserver `pkg/apiserver/schema` (pruning, defaulting, list types)
and `pkg/apiserver/validation`; for built-in kinds k8s.io/apimachinery's strict JSON decoding.
A schema is turned into functions once, each level when a value first reaches it.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

from policygen.api_validation import cel, scalars
from policygen.api_validation.refusal import Refusal, Spot, path_to
from policygen.api_validation.scalars import Check
from policygen.core.finding import Verb
from policygen.core.quoting import listed, quoted, shown
from policygen.core.suggest import Names

Schema = dict[str, Any]
_SLIPS = 1 << 12
"""Unknown fields that are remembered: a slip in a template is in all that it makes."""
_NO_TWO_ALIKE = "size(self.filter(i, size(self.filter(j, j == i)) > 1)) == 0"
"""A rule in CEL that says of a list what `x-kubernetes-list-type: set` says."""
Finish = Callable[[Any, Spot, list[Refusal]], None]
"""What is judged of a whole mapping or list, after its parts."""


def below(schema: Schema, step: str | int) -> Schema:
    """The schema of an entry of a mapping or a list; empty where it says nothing."""
    found: Schema = {}
    if isinstance(step, int):
        found = schema.get("items", {})
    else:
        found = schema.get("properties", {}).get(step, schema.get("additionalProperties") or {})
    return found


def check(schema: Schema, *, custom: bool) -> Check:
    """How a value of this schema is judged: as a custom kind's, or as a built-in one's."""
    if schema.get("type") == "object":
        return _with_rules(_mapping(schema, custom=custom), schema)
    if schema.get("type") == "array":
        return _with_rules(_list(schema, custom=custom), schema)
    return _with_rules(scalars.check(schema, custom=custom), schema)


def _mapping(schema: Schema, *, custom: bool) -> Check:
    parts = _Parts(schema, custom=custom)
    wanted = required(schema, custom=custom)
    finishers = tuple(_bounds(schema, "Properties", "entry", "entries"))

    def judge(value: Any, spot: Spot, out: list[Refusal]) -> Any:
        if not isinstance(value, dict):
            return _wrong(value, "a mapping", spot, out)
        before = len(out)
        made = _judged(value, parts, spot, out)
        slips = _meant(out[before:], spot)
        for name, default in parts.defaults.items():
            if name not in made and name not in slips:
                made = _copied(made, value)
                made[name] = parts.check(name)(default, (spot, name), out)
        out += [_missing(name, spot) for name in wanted if name not in made and name not in slips]
        for finish in finishers:
            finish(made, spot, out)
        return made

    return judge


def _meant(refused: list[Refusal], spot: Spot) -> frozenset[str]:
    """The fields of a mapping that are there under a misspelt name."""
    if not refused:
        return frozenset()
    here = path_to(spot)
    return frozenset(it.meant for it in refused if it.meant and it.path[:-1] == here)


def _judged(
    value: dict[str, Any], parts: "_Parts", spot: Spot, out: list[Refusal]
) -> dict[str, Any]:
    """The entries with the defaults inside them; a copy only where one changed."""
    made = value
    for key, entry in value.items():
        if not parts.knows(key):
            out.append(_unknown(key, parts.names, spot))
        elif entry is None and parts.takes_null(key):
            made = _copied(made, value)
            del made[key]  # the server drops it before it judges
        else:
            new = parts.check(key)(entry, (spot, key), out)
            if new is not entry:
                made = _copied(made, value)
                made[key] = new
    return made


def _copied(made: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
    return dict(value) if made is value else made


class _Parts:
    """The checks of a mapping's entries, made when a key first comes by."""

    def __init__(self, schema: Schema, *, custom: bool) -> None:
        self._schemas: dict[str, Schema] = schema.get("properties", {})
        self._others: Schema | None = schema.get("additionalProperties")
        self._open = bool(schema.get("x-kubernetes-preserve-unknown-fields"))
        self._custom = custom
        self._checks: dict[str, Check] = {}
        self._other: Check | None = _anything if self._open and self._others is None else None
        # Go types have a value for every field; only those of structs have something to judge.
        self.defaults = {
            name: part["default"]
            for name, part in self._schemas.items()
            if "default" in part and (custom or part["default"] == {})
        }

    @property
    def names(self) -> Iterable[str]:
        """The fields that are known by name."""
        return self._schemas

    def knows(self, key: str) -> bool:
        """Whether the server keeps this entry."""
        return key in self._schemas or self._others is not None or self._open

    def takes_null(self, key: str) -> bool:
        """Whether null means that the entry is absent."""
        part = self._schemas.get(key, self._others)
        return part is None or not part.get("nullable")

    def check(self, key: str) -> Check:
        """The check of an entry that the server knows."""
        found = self._checks.get(key)
        if found is not None:
            return found
        if key in self._schemas:
            found = self._checks[key] = check(self._schemas[key], custom=self._custom)
            return found
        if self._other is None:
            self._other = check(self._others or {}, custom=self._custom)
        return self._other


def _anything(value: Any, _spot: Spot, _out: list[Refusal]) -> Any:
    return value


def _list(schema: Schema, *, custom: bool) -> Check:
    item = _Item(schema["items"], custom=custom)
    # To Go, null in a list of structs is one without any field.
    instead: Any = {} if not custom and schema["items"].get("type") == "object" else None
    finishers = (*_bounds(schema, "Items", "entry", "entries"), *_unique(schema, custom=custom))

    def judge(value: Any, spot: Spot, out: list[Refusal]) -> Any:
        if not isinstance(value, list):
            return _wrong(value, "a list", spot, out)
        each = item.check
        made = [
            each(instead if entry is None else entry, (spot, index), out)
            for index, entry in enumerate(value)
        ]
        for finish in finishers:
            finish(made, spot, out)
        return made

    return judge


class _Item:
    """The check of a list's entries, made when the first comes by."""

    def __init__(self, schema: Schema, *, custom: bool) -> None:
        self._schema = schema
        self._custom = custom
        self._check: Check | None = None

    @property
    def check(self) -> Check:
        if self._check is None:
            self._check = check(self._schema, custom=self._custom)
        return self._check


def _with_rules(judge: Check, schema: Schema) -> Check:
    """The check and after it, where nothing below was refused, the CEL rules of the schema."""
    rules = [
        cel.compiled(rule)
        for rule in schema.get("x-kubernetes-validations", ())
        if rule["rule"] != _NO_TWO_ALIKE
    ]
    kept = [rule for rule in rules if rule is not None]
    if not kept:
        return judge

    def judge_all(value: Any, spot: Spot, out: list[Refusal]) -> Any:
        before = len(out)
        made = judge(value, spot, out)
        if len(out) == before:
            out += [
                Refusal(path_to(spot), "crd-rule-broken", rule.message)
                for rule in kept
                if not rule.holds(made)
            ]
        return made

    return judge_all


def required(schema: Schema, *, custom: bool) -> tuple[str, ...]:
    """What must be there. Go types read an absent number as 0 and judge that, in code."""
    names: list[str] = schema.get("required", [])
    if custom:
        return tuple(names)
    properties = schema.get("properties", {})
    return tuple(
        name
        for name in names
        if properties[name].get("type") not in {"integer", "boolean"}
        and "x-kubernetes-int-or-string" not in properties[name]
    )


def _bounds(schema: Schema, word: str, one: str, many: str) -> Iterator[Finish]:
    if f"min{word}" in schema or f"max{word}" in schema:
        judge = scalars.length(schema, word, one, many)

        def finish(value: Any, spot: Spot, out: list[Refusal]) -> None:
            fault = judge(value)
            if fault is not None:
                out.append(Refusal(path_to(spot), *fault))

        yield finish


def _unique(schema: Schema, *, custom: bool) -> Iterator[Finish]:
    """Lists whose entries differ: in their keys, or altogether. Go types let repetitions pass."""
    kind = schema.get("x-kubernetes-list-type")
    keys: list[str] = schema.get("x-kubernetes-list-map-keys", [])
    if any(it["rule"] == _NO_TWO_ALIKE for it in schema.get("x-kubernetes-validations", ())):
        kind, keys = "set", list(schema["items"].get("properties", ()))
    if not custom or kind not in {"map", "set"}:
        return

    def finish(entries: Any, spot: Spot, out: list[Refusal]) -> None:
        first: dict[str, int] = {}
        whole: dict[str, Any] = {}
        for index, entry in enumerate(entries):
            if kind == "map" and not isinstance(entry, dict):
                continue  # its type is told already
            told = entry
            if keys and isinstance(entry, dict):
                told = {key: entry.get(key) for key in keys}
            mark = json.dumps(told, sort_keys=True)
            if mark in first:
                again = _duplicate(told, keys, first[mark], (spot, index))
                alike = whole[mark] == entry
                out.append(again._replace(mend=(Verb.REMOVE, "") if alike else None))
            first.setdefault(mark, index)
            whole.setdefault(mark, entry)

    yield finish


def _duplicate(told: Any, keys: list[str], first: int, spot: Spot) -> Refusal:
    parts = [f"{key} {shown(told[key])}" for key in keys] if isinstance(told, dict) else []
    what = listed(parts, "and") if parts else shown(told)
    return Refusal(
        path_to(spot),
        "duplicate-list-entry",
        f"{what} is in entry {first + 1} already; keep one entry for it",
    )


def _wrong(value: Any, wanted: str, spot: Spot, out: list[Refusal]) -> Any:
    message = f"{shown(value)} stands where the server takes {wanted}"
    out.append(Refusal(path_to(spot), "wrong-type", message))
    return value


def _unknown(key: str, known: Iterable[str], spot: Spot) -> Refusal:
    said, meant = _near(key, tuple(known))
    message = f"the server knows no field {quoted(key)} here; {said}"
    return Refusal(path_to((spot, key)), "unknown-field", message, key=True, meant=meant)


@lru_cache(_SLIPS)
def _near(key: str, known: tuple[str, ...]) -> tuple[str, str]:
    """What is said of a name that is not known, and which is meant."""
    names = Names(known)
    return names.said(key), names.meant(key)


def _missing(name: str, spot: Spot) -> Refusal:
    return Refusal(
        path_to(spot), "missing-field", f"{name} is missing, which the server requires; write it"
    )
