"""Compares two states of an object, field by field and by type.

The types come from the structural schemas of running servers (`api_validation.schemas`). These are
equal:

- quantities with the same value (`1500m` and `1.5`)
- a missing field, its default, and null
- a missing field, and an empty list, text or mapping with free keys
- entries of a keyed list at different positions

An entry of a mapping with free keys, such as a label or a setting in a file, counts also if it is empty.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile, zip_longest
from operator import itemgetter
from typing import Any

from msgspec import UNSET, Struct
from msgspec.structs import replace

from policygen.api_validation import schemas
from policygen.api_validation.structural import Schema, is_quantity
from policygen.core import quantity
from policygen.core.finding import Path, at_path, named
from policygen.drift import file_equality
from policygen.drift.defaults import filled, foreign
from policygen.kubernetes.renames import is_renamed_value
from policygen.kubernetes.untyped import mapping

NOT_FIELDS = frozenset({"apiVersion", "kind", "metadata", "status"})
"""Keys of an object that are not compared as fields; `metadata` is compared separately."""

_NATURAL = ("name", "key", "type", "nodeLabel", "schedulerName")
"""Keys that identify list entries if the schema names no key; the first that all entries have."""

Label = Callable[[Any], Any]

Read = Callable[[str], dict[str, Any] | None]
"""Parses a YAML text, such as a file inside a ConfigMap, to a mapping; None if it is not a mapping."""


class FieldDifference(Struct, frozen=True):
    """One field with another value than the spec renders."""

    path: Path
    """In the object on the cluster. A missing entry has the index that it should have."""
    expected: Any
    """UNSET if it is not set."""
    found: Any
    """UNSET if it is not set."""
    source: Path
    """The same place in the expected object."""
    reordered: bool = False
    """Whether it is a list with the correct entries in another order."""
    text: Path | None = None
    """The path of the text that contains it: a file inside a ConfigMap."""
    named: Path = ()
    """The path with names of list entries instead of indexes, if they have a name."""
    is_quantity: bool = False


def differences(
    expected: dict[str, Any], found: dict[str, Any], read: Read
) -> Iterator[FieldDifference]:
    """Everything in which an object is not the expected one, in the order of the expected fields.

    Both have the same API version. All fields except metadata and status are compared. In metadata,
    the labels and annotations of the expected object are compared.
    """
    for part in ("labels", "annotations"):
        mine, theirs = (mapping(it, "metadata", part) for it in (expected, found))
        for key, value in mine.items():
            other = theirs.get(key, UNSET)
            if other != value:
                path: Path = ("metadata", part, key)
                yield FieldDifference(path, value, other, path, named=path)
    api_version, kind = str(expected.get("apiVersion", "")), str(expected.get("kind", ""))
    served = schemas.served(api_version, kind)
    schema = served.schema if served else {}
    left, right = (filled(it, api_version, kind) for it in (expected, found))
    comparison = _Comparison(
        custom=served is None or served.custom, read=read if kind == "ConfigMap" else None
    )
    for path in foreign(kind):
        _drop_foreign(path, left, right)
    for data in (left, right):
        for name in NOT_FIELDS:
            data.pop(name, None)
    for difference in comparison.mappings(left, right, schema, (), ()):
        if is_renamed_value(difference.path, difference.expected, difference.found):
            continue
        path = difference.named or _named(difference, left, right)
        yield replace(difference, named=path)


def _drop_foreign(path: Path, expected: dict[str, Any], found: dict[str, Any]) -> None:
    """Remove a field of other owners from the found object, unless the expected object has it."""
    mine, theirs = at_path(expected, path[:-1]), at_path(found, path[:-1])
    last = path[-1]
    if isinstance(theirs, dict) and not (isinstance(mine, dict) and last in mine):
        theirs.pop(last, None)


class _Comparison:
    def __init__(self, *, custom: bool, read: Read | None, of_file: bool = False) -> None:
        self._custom = custom
        self._read = read
        self._of_file = of_file

    def values(
        self, expected: Any, found: Any, schema: Schema, path: Path, source: Path
    ) -> Iterator[FieldDifference]:
        """The differences of two values, either of which may be UNSET."""
        expected, found = (self._canonical(it, schema) for it in (expected, found))
        if expected is UNSET or found is UNSET:
            there = found if expected is UNSET else expected
            if not self._says_nothing(there, schema):
                yield FieldDifference(path, expected, found, source)
        elif isinstance(expected, dict) and isinstance(found, dict):
            yield from self.mappings(expected, found, schema, path, source)
        elif isinstance(expected, list) and isinstance(found, list):
            yield from self._lists(expected, found, schema, path, source)
        elif not (
            _equal(expected, found, schema)
            or (self._of_file and file_equality.are_same(path, expected, found))
        ):
            inside = self._inside(expected, found, path)
            if inside is None:
                yield FieldDifference(
                    path, expected, found, source, is_quantity=is_quantity(schema)
                )
            else:
                yield from inside

    def mappings(
        self,
        expected: dict[str, Any],
        found: dict[str, Any],
        schema: Schema,
        path: Path,
        source: Path,
    ) -> Iterator[FieldDifference]:
        """The differences of two mappings: the expected entries first, then other entries."""
        known: dict[str, Schema] = schema.get("properties", {})
        other: Schema = schema.get("additionalProperties") or {}
        for key in (*expected, *(key for key in found if key not in expected)):
            mine, theirs = expected.get(key, UNSET), found.get(key, UNSET)
            below = (*path, key), (*source, key)
            if key not in known and _is_one_sided(mine, theirs):
                yield FieldDifference(below[0], mine, theirs, below[1])
            else:
                yield from self.values(mine, theirs, known.get(key, other), *below)

    def _canonical(self, value: Any, schema: Schema) -> Any:
        """The value as the server reads it: with its default, and UNSET for null."""
        if value is None and not schema.get("nullable"):
            value = UNSET
        if value is UNSET and "default" in schema and (self._custom or schema["default"] != {}):
            value = schema["default"]
        return value

    def _says_nothing(self, value: Any, schema: Schema) -> bool:
        """Whether a value equals a missing value."""
        # In Go, a missing struct can differ from an empty one: {} selects everything.
        free = not self._custom or "properties" not in schema
        return value is UNSET or value in ("", []) or (value == {} and free)

    def _lists(
        self,
        expected: list[Any],
        found: list[Any],
        schema: Schema,
        path: Path,
        source: Path,
    ) -> Iterator[FieldDifference]:
        item: Schema = schema.get("items", {})
        label = _label(schema, expected, found)
        if label is None:
            yield from self._positions(expected, found, item, path, source)
            return
        mine = {label(it): index for index, it in enumerate(expected)}
        theirs = {label(it): index for index, it in enumerate(found)}
        paired: set[int] = set()
        for key, index in mine.items():
            there = theirs.get(key)
            if there is None and index < len(found) and label(found[index]) not in mine:
                there = index  # another name in the same place
            if there is None:
                yield FieldDifference((*path, index), expected[index], UNSET, (*source, index))
                continue
            paired.add(there)
            below = (*path, there), (*source, index)
            yield from self.values(expected[index], found[there], item, *below)
        for index in theirs.values():
            if index not in paired:
                yield FieldDifference((*path, index), UNSET, found[index], (*source, index))
        unordered = self._of_file and file_equality.is_unordered(path)
        if schema.get("x-kubernetes-list-type") != "set" and not unordered:
            common = [key for key in theirs if key in mine]
            if common != [key for key in mine if key in theirs]:
                yield FieldDifference(path, expected, found, source, reordered=True)

    def _positions(
        self, expected: list[Any], found: list[Any], item: Schema, path: Path, source: Path
    ) -> Iterator[FieldDifference]:
        """Entries without an identifying key: skip equal entries at both ends, then compare by index."""
        first = self._equal_pairs(zip(expected, found, strict=False), item)
        mine, theirs = expected[first:], found[first:]
        last = self._equal_pairs(zip(reversed(mine), reversed(theirs), strict=False), item)
        mine, theirs = mine[: len(mine) - last], theirs[: len(theirs) - last]
        pairs = zip_longest(mine, theirs, fillvalue=UNSET)
        for index, (left, right) in enumerate(pairs, first):
            if left is UNSET or right is UNSET:
                yield FieldDifference((*path, index), left, right, (*source, index))
            else:
                yield from self.values(left, right, item, (*path, index), (*source, index))

    def _equal_pairs(self, pairs: Iterable[tuple[Any, Any]], item: Schema) -> int:
        """The number of pairs before the first one that differs."""
        return sum(1 for _ in takewhile(lambda it: self._same(*it, item), pairs))

    def _same(self, expected: Any, found: Any, schema: Schema) -> bool:
        return next(self.values(expected, found, schema, (), ()), None) is None

    def _inside(self, expected: Any, found: Any, path: Path) -> Iterator[FieldDifference] | None:
        """The differences of two files inside a ConfigMap; None unless both are mappings."""
        if self._read is None or not (isinstance(expected, str) and isinstance(found, str)):
            return None
        mine, theirs = self._read(expected), self._read(found)
        if mine is None or theirs is None:
            return None
        inside = _Comparison(custom=True, read=None, of_file=True).mappings(
            mine, theirs, {}, (), ()
        )
        return (
            replace(
                difference,
                path=(*path, *difference.path),
                source=(*path, *difference.source),
                text=path,
                named=(*path, *_named(difference, mine, theirs)),
            )
            for difference in inside
        )


def _named(difference: FieldDifference, expected: Any, found: Any) -> Path:
    if difference.found is UNSET:
        return named(expected, difference.source)
    return named(found, difference.path)


def _is_one_sided(expected: Any, found: Any) -> bool:
    """Whether one of two values is not set, and the other is set, maybe to an empty value."""
    return (expected is UNSET and found not in (UNSET, None)) or (
        found is UNSET and expected not in (UNSET, None)
    )


def _equal(expected: Any, found: Any, schema: Schema) -> bool:
    if expected is UNSET or found is UNSET:
        return False
    if is_quantity(schema):
        try:
            return quantity.parse(expected).value == quantity.parse(found).value
        except ValueError:
            return bool(expected == found)
    return isinstance(expected, bool) == isinstance(found, bool) and bool(expected == found)


def _label(schema: Schema, expected: list[Any], found: list[Any]) -> Label | None:
    """The function that identifies list entries; None if only their index does."""
    entries = [*expected, *found]
    if all(isinstance(it, str | int | float) for it in entries):
        return _unique(lambda it: it, expected, found)
    if not all(isinstance(it, dict) for it in entries):
        return None
    keys: list[str] = schema.get("x-kubernetes-list-map-keys", [])
    if keys:
        properties = schema.get("items", {}).get("properties", {})
        defaults = {key: properties.get(key, {}).get("default") for key in keys}
        return _unique(
            lambda it: tuple(repr(it.get(key, defaults[key])) for key in keys), expected, found
        )
    for name in _NATURAL:
        if all(isinstance(it.get(name), str) for it in entries):
            label = _unique(itemgetter(name), expected, found)
            if label is not None:
                return label
    return None


def _unique(label: Label, *lists: list[Any]) -> Label | None:
    """The label, if it is unique in each list."""
    return label if all(len(set(map(label, each))) == len(each) for each in lists) else None
