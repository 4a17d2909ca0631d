"""Structural schemas: what an API server prunes, defaults and refuses, in its order.

Source: k8s.io/apiextensions-apiserver `pkg/apiserver/schema` (pruning, defaulting, list types)
and `pkg/apiserver/validation`; for built-in kinds k8s.io/apimachinery's strict JSON decoding.
A schema is compiled to functions once, each level when a value first reaches it.
"""

import json
from collections.abc import Callable, Iterator
from functools import cache, cached_property, partial
from typing import Any

from policygen.api_validation import cel, scalars
from policygen.api_validation.refusal import Reason, Refusal, Spot, about, counted, named, path_to
from policygen.api_validation.scalars import Check
from policygen.core.finding import Verb
from policygen.core.quoting import listed, quoted, shown
from policygen.core.suggest import Names

Schema = dict[str, Any]
_NO_TWO_ALIKE = "size(self.filter(i, size(self.filter(j, j == i)) > 1)) == 0"
"""A rule in CEL that means the same as `x-kubernetes-list-type: set`."""
_UNIQUE_ON_CREATE = frozenset(
    {
        "claims", "containers", "ephemeralContainers", "initContainers", "resourceClaims", "schedulingGates",
        "topologySpreadConstraints", "volumeDevices", "volumeMounts", "volumes",
    }
)  # fmt: skip
"""Lists of pods whose duplicates the server's code refuses too: rules of lint report those."""
Finish = Callable[[Any, Spot, list[Refusal]], None]
"""A check of a mapping or list that runs after the checks of its entries."""


def below(schema: Schema, step: str | int) -> Schema:
    """The schema of an entry of a mapping or a list; empty if it has no schema."""
    found: Schema = {}
    if isinstance(step, int):
        found = schema.get("items", {})
    else:
        found = schema.get("properties", {}).get(step, schema.get("additionalProperties") or {})
    return found


def is_quantity(schema: Schema) -> bool:
    """Whether a field is a quantity; in a CRD, all quantities have the same pattern."""
    if schema.get("x-policygen-type") == "quantity":
        return True
    pattern: str = schema.get("pattern", "")
    return bool(schema.get("x-kubernetes-int-or-string")) and pattern.startswith(r"^(\+|-)?(([0")


def check(schema: Schema, *, custom: bool) -> Check:
    """The check of a value of this schema, for a custom kind or a built-in one."""
    if schema.get("type") == "object":
        return _with_rules(_mapping(schema, custom=custom), schema)
    if schema.get("type") == "array":
        return _with_rules(_list(schema, custom=custom), schema)
    return _with_rules(scalars.check(schema, custom=custom), schema)


def _mapping(schema: Schema, *, custom: bool) -> Check:
    parts = _Parts(schema, custom=custom)
    needed = required(schema, custom=custom)
    finishers = tuple(_bounds(schema, "Properties", "entry", "entries"))

    def check_value(value: Any, spot: Spot, out: list[Refusal]) -> Any:
        if not isinstance(value, dict):
            return _wrong(value, "a mapping", spot, out)
        before = len(out)
        filled = _checked(value, spot, out, parts)
        misspelt = _misspelt_fields(out[before:], spot) if len(out) > before else ()
        for name, default in parts.defaults.items():
            if name not in filled and name not in misspelt:
                filled = _copied(filled, value)
                filled[name] = parts.check(name)(default, (spot, name), out)
        out += [
            _missing(name, spot) for name in needed if name not in filled and name not in misspelt
        ]
        for finish in finishers:
            finish(filled, spot, out)
        return filled

    return check_value


def entries(schema: Schema, *, custom: bool) -> Check:
    """The check of the entries that a mapping of this schema has; it does not look for missing ones."""
    return partial(_checked, parts=_Parts(schema, custom=custom))


def _misspelt_fields(refused: list[Refusal], spot: Spot) -> frozenset[str]:
    """The fields of a mapping that exist under a misspelled name."""
    here = path_to(spot)
    return frozenset(it.meant for it in refused if it.meant and it.path[:-1] == here)


def _checked(
    value: dict[str, Any], spot: Spot, out: list[Refusal], parts: "_Parts"
) -> dict[str, Any]:
    """The entries with their defaults; a copy only if one changed."""
    filled, compiled = value, parts.compiled
    for key, entry in value.items():
        if key in compiled and entry is not None:  # the usual case
            new = compiled[key](entry, (spot, key), out)
            if new is not entry:
                filled = _copied(filled, value)
                filled[key] = new
        elif not parts.knows(key):
            out.append(_unknown(key, parts.names, spot))
        elif entry is None and parts.takes_null(key):
            filled = _copied(filled, value)
            del filled[key]  # the server drops it before it validates
            if parts.keeps_null(key):
                out.append(_null(key, spot))
        else:
            new = parts.check(key)(entry, (spot, key), out)
            if new is not entry:
                filled = _copied(filled, value)
                filled[key] = new
    return filled


def _copied(filled: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
    return dict(value) if filled is value else filled


class _Parts:
    """The checks of a mapping's entries, made when a key first comes by."""

    def __init__(self, schema: Schema, *, custom: bool) -> None:
        self.schemas: dict[str, Schema] = schema.get("properties", {})
        self._others: Schema | None = schema.get("additionalProperties")
        self._open = bool(schema.get("x-kubernetes-preserve-unknown-fields"))
        self._custom = custom
        self.compiled: dict[str, Check] = {}
        """Those of named fields that were checked before."""
        self._other: Check | None = _anything if self._open and self._others is None else None
        # Go types have a value for every field; only those of structs need a check.
        self.defaults = {
            name: part["default"]
            for name, part in self.schemas.items()
            if "default" in part and (custom or part["default"] == {})
        }

    @cached_property
    def names(self) -> Names:
        """The names of the fields, to suggest one for an unknown name."""
        return Names(self.schemas)

    def knows(self, key: str) -> bool:
        """Whether the server keeps an entry of this name."""
        return key in self.schemas or self._others is not None or self._open

    def takes_null(self, key: str) -> bool:
        """Whether null means that the entry is absent."""
        part = self.schemas.get(key, self._others)
        return part is None or not part.get("nullable")

    def keeps_null(self, key: str) -> bool:
        """Whether server-side apply keeps null, and then refuses it; a default replaces null.

        Source: k8s.io/apiextensions-apiserver, PruneNonNullableNullsWithoutDefaults, which only runs
        where a request is decoded.
        """
        part = self.schemas.get(key, self._others)
        return self._custom and part is not None and "default" not in part

    def check(self, key: str) -> Check:
        """The check of a known entry."""
        if key in self.compiled:
            return self.compiled[key]
        if key in self.schemas:
            found = self.compiled[key] = check(self.schemas[key], custom=self._custom)
            return found
        if self._other is None:
            self._other = check(self._others or {}, custom=self._custom)
        return self._other


def _anything(value: Any, _spot: Spot, _out: list[Refusal]) -> Any:
    return value


def _list(schema: Schema, *, custom: bool) -> Check:
    # Compiled when the first entry is checked.
    compiled = cache(partial(check, schema["items"], custom=custom))
    # Go reads null in a list of structs as a struct without fields.
    instead: Any = {} if not custom and schema["items"].get("type") == "object" else None
    finishers = (*_bounds(schema, "Items", "entry", "entries"), *_unique(schema, custom=custom))

    def check_value(value: Any, spot: Spot, out: list[Refusal]) -> Any:
        if not isinstance(value, list):
            return _wrong(value, "a list", spot, out)
        check_entry = compiled()
        filled = [
            check_entry(instead if entry is None else entry, (spot, index), out)
            for index, entry in enumerate(value)
        ]
        # A key that is null differs from a missing one in server-side apply of a built-in kind.
        compared = filled if custom or None in value else value
        for finish in finishers:
            finish(compared, spot, out)
        return filled

    return check_value


def _with_rules(check_value: Check, schema: Schema) -> Check:
    """The check, then the CEL rules of the schema if the check refused nothing."""
    rules = [
        cel.compiled(rule)
        for rule in schema.get("x-kubernetes-validations", ())
        if rule["rule"] != _NO_TWO_ALIKE
    ]
    kept = [rule for rule in rules if rule is not None]
    if not kept:
        return check_value

    def check_all(value: Any, spot: Spot, out: list[Refusal]) -> Any:
        before = len(out)
        filled = check_value(value, spot, out)
        if not counted(out, before):
            out += [
                Refusal(path_to(spot), Reason.CRD_RULE, about(spot, rule.message))
                for rule in kept
                if not rule.holds(filled)
            ]
        return filled

    return check_all


def required(schema: Schema, *, custom: bool) -> tuple[str, ...]:
    """The required fields. Go types read a missing number as 0, and the server's code checks that."""
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
        check_value = scalars.length(schema, word, one, many)

        def finish(value: Any, spot: Spot, out: list[Refusal]) -> None:
            fault = check_value(value)
            if fault is not None:
                reason, text = fault
                out.append(Refusal(path_to(spot), reason, about(spot, text)))

        yield finish


def _unique(schema: Schema, *, custom: bool) -> Iterator[Finish]:
    """Lists whose entries must differ, in their keys or completely.

    Go types accept duplicates on create, but server-side apply merges these lists by their keys.
    Source: sigs.k8s.io/structured-merge-diff, `typed`.
    """
    kind = schema.get("x-kubernetes-list-type")
    keys: list[str] = schema.get("x-kubernetes-list-map-keys", [])
    if any(it["rule"] == _NO_TWO_ALIKE for it in schema.get("x-kubernetes-validations", ())):
        kind, keys = "set", list(schema["items"].get("properties", ()))
    if kind not in {"map", "set"}:
        return
    properties = schema["items"].get("properties", {})
    defaults = {key: properties.get(key, {}).get("default") for key in keys}

    def finish(entries: Any, spot: Spot, out: list[Refusal]) -> None:
        if not custom and spot is not None and spot[1] in _UNIQUE_ON_CREATE:
            return
        first: dict[str | tuple[str, ...], int] = {}
        entries_by_mark: dict[str | tuple[str, ...], Any] = {}
        for index, entry in enumerate(entries):
            if kind == "map" and not isinstance(entry, dict):
                continue  # its type is reported already
            identity = _identity(entry, defaults, custom=custom)
            if not custom and kind == "map" and all(it is None for it in identity.values()):
                out.append(_without_keys(keys, (spot, index)))
                continue
            mark = _mark(identity, defaults)
            if mark in first:
                again = _duplicate(identity, keys, (spot, first[mark]), (spot, index))
                alike = entries_by_mark[mark] == entry
                if not custom:
                    again = _by_apply_only(again)
                out.append(again._replace(fix=(Verb.REMOVE, "") if alike else None))
            first.setdefault(mark, index)
            entries_by_mark.setdefault(mark, entry)

    yield finish


def _identity(entry: Any, defaults: dict[str, Any], *, custom: bool) -> Any:
    """The keys of an entry, with their defaults; the entry itself if the list has no keys.

    null is the default in a custom kind, and another key in a built-in one.
    """
    if not defaults or not isinstance(entry, dict):
        return entry
    return {
        key: default if key not in entry or (custom and entry[key] is None) else entry[key]
        for key, default in defaults.items()
    }


def _mark(identity: Any, defaults: dict[str, Any]) -> str | tuple[str, ...]:
    """A key that equals those of equal identities only."""
    values = tuple(identity.values()) if defaults and isinstance(identity, dict) else (None,)
    if all(it.__class__ is str for it in values):
        return values  # the usual case; JSON takes longer
    return json.dumps(identity, sort_keys=True)


def _null(key: str, spot: Spot) -> Refusal:
    message = f"{named((spot, key))} is null, which server-side apply refuses; remove {key}"
    return Refusal(path_to((spot, key)), Reason.SERVER_SIDE_APPLY, message)


def _without_keys(keys: list[str], spot: Spot) -> Refusal:
    message = f"{named(spot)} has no {listed(keys, 'and')}, which server-side apply refuses; write {keys[0]}"
    return Refusal(path_to(spot), Reason.SERVER_SIDE_APPLY, message)


def _by_apply_only(refusal: Refusal) -> Refusal:
    fault, semicolon, remedy = refusal.message.partition("; ")
    message = f"{fault}, which server-side apply refuses{semicolon}{remedy}"
    return refusal._replace(reason=Reason.SERVER_SIDE_APPLY, message=message)


def _duplicate(identity: Any, keys: list[str], first: Spot, spot: Spot) -> Refusal:
    parts = [f"{key} {shown(identity[key])}" for key in keys] if isinstance(identity, dict) else []
    what = listed(parts, "and") if parts else shown(identity)
    return Refusal(
        path_to(spot),
        Reason.DUPLICATE_ENTRY,
        f"{named(spot)} has the same {what} as {named(first)}; remove one of the two entries",
    )


def _wrong(value: Any, type_name: str, spot: Spot, out: list[Refusal]) -> Any:
    message = f"{named(spot)} must be {type_name}, not {shown(value)}"
    out.append(Refusal(path_to(spot), Reason.TYPE, message))
    return value


_REMOVED = {
    ("torch", "numProcPerNode"): (
        " since Kubeflow Trainer 2.2",
        "remove this field, or write it in spec.trainer of TrainJobs",
    ),
    ("spec", "podTemplateOverrides"): (" since Kubeflow Trainer 2.2", "write runtimePatches"),
}
"""Fields that an operator removed, with their parent: since when they are unknown, and the remedy."""


def _unknown(key: str, known: Names, spot: Spot) -> Refusal:
    advice, meant = known.advised(key)
    if key in ("limits", "requests") and "resources" in known:
        advice, meant = f"move it to resources.{key}", ""
    since, remedy = _REMOVED.get((named(spot), key), ("", advice or "remove this field"))
    meant = "" if since else meant
    message = f"field {quoted(key)} is unknown{_inside(spot)}{since}; {remedy}"
    return Refusal(path_to((spot, key)), Reason.UNKNOWN_FIELD, message, key=True, meant=meant)


def _missing(name: str, spot: Spot) -> Refusal:
    message = f"required field {name} is missing{_inside(spot)}; write this field"
    return Refusal(path_to(spot), Reason.MISSING_FIELD, message)


def _inside(spot: Spot) -> str:
    name = named(spot)
    return f" in {name}" if name else ""
