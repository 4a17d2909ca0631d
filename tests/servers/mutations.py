"""Changes that break a valid object: one at a time, at every place, or drawn at random."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from typing import Any, NamedTuple

from hypothesis import strategies as st

from policygen.api_validation.schemas import object_meta, served
from policygen.core.finding import Path

from .client import Object

KEPT = frozenset({("apiVersion",), ("kind",), ("metadata", "name"), ("metadata",)})
"""What decides where an object is sent."""

STRANGER = "strangeField"

_INSTEAD: tuple[Any, ...] = (
    True, 1.5, 3.0, {}, [], "", "a", "1", "A_b c", "a.b/c", "x" * 300, "1 Gi", "2k", "10Ei", "1e3", ".5", "+",
    "2026-01-31T12:00:00Z", 0, -1, 1000000, (1 << 31), (1 << 31) - 1, 1 << 63, {"a": "b"}, [None], ["a", "a"],
)  # fmt: skip


class Change(NamedTuple):
    """One way to spoil an object; it is cheap to list them and dear to make them all."""

    label: str
    path: Path
    make: Callable[[Any], None]
    """Changes what holds the last step of the path."""

    def of(self, thing: Object) -> Object:
        """A changed copy."""
        copy = deepcopy(thing)
        self.make(_at(copy, self.path[:-1]))
        return copy

    def __str__(self) -> str:
        return f"{self.label} at {'.'.join(map(str, self.path))}"


def changes(thing: Object) -> list[Change]:
    """Every single change of this object that we know."""
    return list(_changes(thing))


def _changes(thing: Object) -> Iterator[Change]:
    for path, value in _places(thing, ()):
        yield from _of_place(path, value)


def _of_place(path: Path, value: Any) -> Iterator[Change]:
    if isinstance(value, dict):
        yield _put("stranger", (*path, STRANGER), 1)
    if path in KEPT or not path:
        return
    last = path[-1]
    yield Change("without", path, partial(_remove, last))
    yield _put("null", path, None)
    for other in _INSTEAD:
        if type(other) is not type(value) or other != value:
            yield _put(f"{other!r:.20}", path, other)
    if isinstance(value, list) and value:
        yield _put("twice", path, [*value, value[0]])
        yield _put("many", path, value * 300)
    if isinstance(last, str):
        yield Change("renamed", path, partial(_rename, last))


def _places(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    yield path, value
    if isinstance(value, dict):
        for key in value:
            yield from _places(value[key], (*path, key))
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _places(entry, (*path, index))


def _at(thing: Any, path: Path) -> Any:
    for step in path:
        thing = thing[step]
    return thing


def _put(label: str, path: Path, value: Any) -> Change:
    return Change(label, path, partial(_set, path[-1], value))


def _set(key: str | int, value: Any, holder: Any) -> None:
    holder[key] = deepcopy(value)


def _remove(key: str | int, holder: Any) -> None:
    del holder[key]


def _rename(key: str, holder: Any) -> None:
    holder[f"{key}s"] = holder.pop(key)


# Drawn changes

AMOUNTS = (
    "0", "1", "-1", "1.5", "500m", "0.5m", "1n", "8Gi", "1Ki", "1e3", "1E3", "+5", "16Ei", "9223372036854775808",
    "1 Gi", "1gb", "10GB", "1.5.5", "0x10", "1_000", "Inf", "NaN", "m", "1Gii", "", 0, 1, 7, 0.5, -3, 100000,
)  # fmt: skip
NAMES = (
    "a", "a-b", "a.b", "1a", "A", "-a", "a-", "a..b", "a_b", "a b", "a/b", "\u00e4", "", "x" * 63, "x" * 64, "x" * 253,
    "x" * 254, "default", "root", "system-node-critical", "kube-system", "nvidia.com/gpu", "cpu", "pods",
)  # fmt: skip
LABELS = (
    ("a", "b"), ("a.b/c", "d"), ("A.b/c", "d"), ("a/b/c", "d"), ("a b", "c"), ("a", "b c"), ("", "a"), ("a", "x" * 64),
    ("x" * 64, "a"), ("a", 1), ("a", True), ("a", None), ("a", ""), ("-a", "b"), ("a", "-b"),
    ("kueue.x-k8s.io/queue-name", "a"), ("kueue.x-k8s.io/queue-name", "A_b"), ("kueue.x-k8s.io/priority-class", "a"),
    ("scheduling.volcano.sh/queue-name", "gone"), ("volcano.sh/preemptable", "yes"),
    ("kueue.x-k8s.io/pod-group-name", "a"), ("kueue.x-k8s.io/prebuilt-workload-name", "a"),
    ("scheduling.k8s.io/group-name", "a"), ("kueue.x-k8s.io/podset-required-topology", "a b"),
    ("kueue.x-k8s.io/podset-required-topology", "zone"), ("provreq.kueue.x-k8s.io/a", "b"),
)  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn, thing: Object) -> tuple[Object, str]:
    """A changed copy of an object, and what was changed; now and then two changes."""
    labels = []
    for _ in range(draw(st.sampled_from((1, 1, 1, 2)))):
        change = draw(_drawn(thing))
        thing = change.of(thing)
        labels.append(str(change))
    return thing, ", ".join(labels)


@st.composite
def _drawn(draw: st.DrawFn, thing: Object) -> Change:
    places = [(path, value) for path, value in _places(thing, ()) if path and path not in KEPT]
    found = draw(st.sampled_from(_WAYS))(thing, places)
    return draw(_anything(thing, places) if found is None else found)


_Places = list[tuple[Path, Any]]
_Drawing = st.SearchStrategy[Change] | None


def _anything(thing: Object, places: _Places) -> st.SearchStrategy[Change]:
    """Anything at all, at any place: the changes of `changes`."""
    return st.sampled_from(places or [((), thing)]).flatmap(
        lambda place: st.sampled_from(list(_of_place(*place)) or [_put("null", place[0], None)])
    )


def _amount(_: Object, places: _Places) -> _Drawing:
    """Another quantity or number in a field that has one."""
    found = [path for path, value in places if _is_amount(value)]
    return _filled("amount", found, st.sampled_from(AMOUNTS)) if found else None


def _is_amount(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int | float) or (isinstance(value, str) and value[:1].isdigit())


def _name(thing: Object, places: _Places) -> _Drawing:
    """Another name in a field with a text, or as the object's own name."""
    found = [path for path, value in places if isinstance(value, str)]
    if isinstance(thing.get("metadata"), dict):
        found.append(("metadata", "name"))
    return _filled("name", found, st.sampled_from(NAMES)) if found else None


def _word(thing: Object, places: _Places) -> _Drawing:
    """Another word of an enumeration, or one in the wrong case."""
    found = [
        _put(f"word {word!r}", path, word)
        for path, value in places
        if isinstance(value, str) and (words := _schema(thing, path).get("enum"))
        for word in (*words, value.lower(), value.upper(), f"{value}s")
    ]
    return st.sampled_from(found) if found else None


def _added(thing: Object, places: _Places) -> _Drawing:
    """A field that the schema knows and the object lacks, with a value of its type."""
    found = [
        (*path, name)
        for path, value in [((), thing), *places]
        if isinstance(value, dict)
        for name in _schema(thing, path).get("properties", {})
        if name not in value and (*path, name)[0] != "status"
    ]

    def filled(path: Path) -> st.SearchStrategy[Change]:
        return _filled("added", [path], _values(_schema(thing, path), 3))

    return st.sampled_from(found).flatmap(filled) if found else None


def _crossed(_: Object, places: _Places) -> _Drawing:
    """The value of one field in another field of its type, so that fields no longer agree."""
    by_type: dict[type, _Places] = {}
    for path, value in places:
        if not isinstance(value, dict | list):
            by_type.setdefault(type(value), []).append((path, value))
    alike = [each for each in by_type.values() if len(each) > 1]
    if not alike:
        return None
    two = st.sampled_from(alike).flatmap(lambda each: st.tuples(*[st.sampled_from(each)] * 2))
    return two.map(lambda it: _put(f"from {'.'.join(map(str, it[1][0]))}", it[0][0], it[1][1]))


def _listed(_: Object, places: _Places) -> _Drawing:
    """One more entry of a list, like one that it has but for a field."""
    found = [(path, value) for path, value in places if isinstance(value, list) and value]

    def more(each: tuple[Path, list[Any]]) -> st.SearchStrategy[Change]:
        path, value = each
        entry = value[0]
        if not isinstance(entry, dict) or not entry:
            return st.just(_put("one more", path, [*value, entry]))
        return st.builds(
            lambda name, to: _put(
                f"one more with {name} {to!r}", path, [*value, {**entry, name: to}]
            ),
            st.sampled_from(sorted(entry)),
            st.sampled_from(("a", "other", 2, entry[min(entry)])),
        )

    return st.sampled_from(found).flatmap(more) if found else None


def _label(thing: Object, _: _Places) -> _Drawing:
    """A label or annotation, right or wrong."""
    metadata = thing.get("metadata")
    if not isinstance(metadata, dict):
        return None

    def put(field: str, label: tuple[str, Any]) -> Change:
        held = metadata.get(field)
        held = held if isinstance(held, dict) else {}
        return _put(f"{label!r:.50}", ("metadata", field), {**held, label[0]: label[1]})

    return st.builds(put, st.sampled_from(("labels", "annotations")), st.sampled_from(LABELS))


_WAYS = (_anything, _amount, _name, _word, _added, _crossed, _listed, _label)


def _filled(
    label: str, paths: list[Path], values: st.SearchStrategy[Any]
) -> st.SearchStrategy[Change]:
    return st.builds(
        lambda path, value: _put(f"{label} {value!r:.60}", path, value),
        st.sampled_from(paths),
        values,
    )


def _values(schema: dict[str, Any], depth: int) -> st.SearchStrategy[Any]:
    """Values of a schema's type, without regard to its other constraints."""
    kind = schema.get("type")
    if words := schema.get("enum"):
        return st.sampled_from(words)
    if kind == "object":
        return _mappings(schema, depth)
    if kind == "array":
        return st.lists(_values(schema.get("items", {}), depth - 1), max_size=2 if depth else 0)
    if schema.get("x-policygen-type") == "quantity" or schema.get("x-kubernetes-int-or-string"):
        return st.sampled_from(AMOUNTS)
    return _SCALARS.get(str(kind), st.sampled_from(NAMES))


_SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "boolean": st.booleans(),
    "integer": st.sampled_from((0, 1, 2, 5, -1, 300, 10**9 + 1)),
    "number": st.sampled_from((0, 0.5, 2)),
}


def _mappings(schema: dict[str, Any], depth: int) -> st.SearchStrategy[Any]:
    """Mappings with all required fields, and at most one more field."""
    if not depth:
        return st.just({})
    properties = schema.get("properties", {})
    inner = {name: _values(each, depth - 1) for name, each in properties.items()}
    if not properties:
        value = _values(schema.get("additionalProperties") or {}, depth - 1)
        return st.dictionaries(st.sampled_from(NAMES), value, max_size=2)
    must = {name: inner[name] for name in schema.get("required", ()) if name in inner}
    may = st.sampled_from(sorted(inner)).flatmap(
        lambda name: inner[name].map(lambda value: {name: value})
    )
    both = st.tuples(st.fixed_dictionaries(must), st.one_of(st.just({}), may))
    return both.map(lambda two: {**two[1], **two[0]})


def _schema(thing: Object, path: Path) -> dict[str, Any]:
    """The schema of a place; empty where it is not known."""
    kind = served(thing["apiVersion"], thing["kind"])
    schema: dict[str, Any] = kind.schema if kind else {}
    if path[:1] == ("metadata",):
        schema, path = object_meta(), path[1:]
    for step in path:
        if isinstance(step, int):
            schema = schema.get("items") or {}
        else:
            more = schema.get("additionalProperties")
            schema = schema.get("properties", {}).get(step) or (
                more if isinstance(more, dict) else {}
            )
    return schema
