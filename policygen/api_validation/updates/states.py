"""The state of an object after an apply, and the fields in which two states differ."""

from collections.abc import Iterator, Mapping
from typing import Any

from policygen.api_validation import schemas
from policygen.api_validation.structural import Schema, below, is_quantity
from policygen.core import quantity
from policygen.core.finding import Path

Data = Mapping[str, Any]


def schema_of(data: Data) -> Schema:
    """The schema of an object; empty if its kind has none."""
    served = _served(data)
    return served.schema if served else {}


def _served(data: Data) -> schemas.ServedKind | None:
    return schemas.served(str(data.get("apiVersion", "")), str(data.get("kind", "")))


def applied(old: Data, stated: Data) -> Data:
    """The state after an apply of `stated`: fields that it does not state keep their old value.

    Lists have the order that server-side apply gives them. In a list of a built-in kind whose entries have no keys, missing
    fields of an entry are defaults of the server, so they keep their old value, too.
    """
    found: Data = _merged(old, stated, schema_of(old), custom=is_custom(old))
    return found


def _merged(old: Any, stated: Any, schema: Schema, *, custom: bool) -> Any:
    if isinstance(old, dict) and isinstance(stated, dict):
        fields = {
            key: _merged(old.get(key), it, below(schema, key), custom=custom)
            for key, it in stated.items()
        }
        return {**{key: it for key, it in old.items() if key not in fields}, **fields}
    if isinstance(old, list) and isinstance(stated, list):
        return _merged_list(old, stated, schema, custom=custom)
    return stated


def _merged_list(old: list[Any], stated: list[Any], schema: Schema, *, custom: bool) -> list[Any]:
    item: Schema = schema.get("items", {})
    if schema.get("x-kubernetes-list-type") == "set":
        return _ordered(old, stated)
    mine, theirs = _keyed(stated, schema), _keyed(old, schema)
    if mine is None or theirs is None:
        if custom or len(old) != len(stated):
            return stated
        return [_merged(*pair, item, custom=custom) for pair in zip(old, stated, strict=True)]
    return [
        _merged(theirs.get(key), mine[key], item, custom=custom) if key in mine else theirs[key]
        for key in _ordered(list(theirs), list(mine))
    ]


def _ordered(old: list[Any], stated: list[Any]) -> list[Any]:
    """The entries of both lists: `stated` in its order, and before each the old ones that preceded it.

    Source: visitListItems of sigs.k8s.io/structured-merge-diff 6.4.2, typed/merge.go.
    """
    found: list[Any] = []
    rest, shared = list(old), [it for it in stated if it in old]
    for entry in stated:
        while rest and rest[:1] != shared[:1]:
            if rest[0] not in stated:
                found.append(rest[0])
            del rest[0]
        if shared[:1] == [entry]:
            del rest[:1], shared[0]
        found.append(entry)
    return [*found, *(it for it in rest if it not in stated)]


def is_custom(data: Data) -> bool:
    """Whether an object is of a custom kind, whose lists with keys are equal in any order."""
    served = _served(data)
    return served is not None and served.custom


def differences(
    old: Any, new: Any, schema: Schema, path: Path, *, by_order: bool = False
) -> Iterator[Path]:
    """The fields that differ. A missing field equals its default, null, and an empty value.

    With `by_order`, lists of the same entries in another order differ, as in the code of the API server.
    """
    old, new = (_canonical(it, schema) for it in (old, new))
    if isinstance(old, dict | None) and isinstance(new, dict | None):
        old, new = old or {}, new or {}
        for key in dict.fromkeys((*new, *old)):
            pair = old.get(key), new.get(key)
            yield from differences(*pair, below(schema, key), (*path, key), by_order=by_order)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _list_differences(old, new, schema, path, by_order=by_order)
    elif not _equal(old, new, schema):
        yield path


def _list_differences(
    old: list[Any], new: list[Any], schema: Schema, path: Path, *, by_order: bool
) -> Iterator[Path]:
    item: Schema = schema.get("items", {})
    theirs, mine = _keyed(old, schema), _keyed(new, schema)
    if theirs is None or mine is None:
        if len(old) != len(new):
            yield path
            return
        for index, pair in enumerate(zip(old, new, strict=True)):
            yield from differences(*pair, item, (*path, index), by_order=by_order)
        return
    for index, (key, entry) in enumerate(mine.items()):
        if key in theirs:
            pair = theirs[key], entry
            yield from differences(*pair, item, (*path, index), by_order=by_order)
        else:
            yield (*path, index)
    if any(key not in mine for key in theirs) or (by_order and [*mine] != [*theirs]):
        yield path


def _keyed(entries: list[Any], schema: Schema) -> dict[str, Any] | None:
    """The entries of a list by their keys; None if the schema names no keys, or they are not unique."""
    keys: list[str] = schema.get("x-kubernetes-list-map-keys", [])
    if not keys or not all(isinstance(it, dict) for it in entries):
        return None
    fields = schema.get("items", {}).get("properties", {})
    defaults = {key: fields.get(key, {}).get("default") for key in keys}
    found = {repr([it.get(key, defaults[key]) for key in keys]): it for it in entries}
    return found if len(found) == len(entries) else None


def _canonical(value: Any, schema: Schema) -> Any:
    if value is None:
        value = schema.get("default")
    return None if value in ("", [], {}) else value


def _equal(old: Any, new: Any, schema: Schema) -> bool:
    if is_quantity(schema) and old is not None and new is not None:
        try:
            return quantity.parse(old).value == quantity.parse(new).value
        except (TypeError, ValueError):
            pass
    return isinstance(old, bool) == isinstance(new, bool) and bool(old == new)
