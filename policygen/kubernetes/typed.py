"""Data of objects to typed fields: what can be read is, and what cannot is told.

A field that could not be read is `malformed`, and the object is read without it; whoever looks at
the field is noted.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import partial
from typing import Any, TypeVar

import msgspec

from policygen.core import quantity
from policygen.core.finding import At, Path
from policygen.kubernetes import workloads
from policygen.kubernetes.field_access import (
    Doubts,
    Roots,
    left_out,
    outermost,
    unknown_field,
    watched,
    watched_if_there,
)
from policygen.kubernetes.object import Object
from policygen.kubernetes.renames import canonical
from policygen.kubernetes.table import Entry, Table
from policygen.kubernetes.untyped import keyed_texts

MAX_UNKNOWN = 20
"""Fields of an object that may be unknown; one with more is not read."""
Misspelt = Mapping[At, tuple[Path, ...]]
"""Fields that are not there since their names are misspelt, by the roots of objects."""

_AS_MSGSPEC: Mapping[type, str] = {dict: "object", list: "array", type(None): "null"}

T = TypeVar("T")


class Malformed(msgspec.Struct, frozen=True):
    """A field of an object that could not be read: why, and where."""

    object: Object
    path: Path
    message: str


class Reader:
    """Reads the objects of one cluster."""

    def __init__(self, doubts: Doubts, unread: Roots, misspelt: Misspelt) -> None:
        self.malformed: list[Malformed] = []
        """What could not be read so far."""
        self._doubts = doubts
        self._unread = unread
        """Objects of which nothing is read that is not known."""
        self._misspelt = misspelt

    def as_written(self, objects: Iterable[Object]) -> Iterable[Object]:
        """Objects for those who read their data themselves, to whom a misspelt field is unknown."""
        for it in objects:
            if it.at not in self._misspelt:
                yield it
            elif it.at not in self._unread:
                yield watched(it, ("data",), self._note(it))

    def table(self, objects: Iterable[Object], type_: type[T], within: Path = ()) -> Table[T]:
        """The objects with what they have at `within` as a type has it."""
        entries: list[Entry[T]] = []
        unread: list[Object] = []
        for it in objects:
            data: Any = canonical(it)
            for step in within:
                data = data.get(step)
            before = len(self.malformed)
            read = self._read(it, {} if data is None else data, type_, within)
            if read is None:
                unread.append(it)
            elif len(self.malformed) > before and not within:
                # Who reads a controller's file as it was written trusts its types.
                raw = watched(it, ("data",), self._note(it))
                entries.append(Entry(raw, read))
            else:
                entries.append(Entry(it, read))
        return Table(entries, unread, self._doubts)

    def workload_of(self, it: Object) -> workloads.Workload | None:
        """What an object that makes pods makes; None where nobody is to hear of what is not known."""
        made = [self._template(it, *each) for each in workloads.written(it)]
        slips = self._misspelt.get(it.at, ())
        whole = None not in made and (made or not slips)
        if not whole and it.at in self._unread:
            return None
        found = workloads.Workload(it, tuple(each for each in made if each is not None))
        if not whole:
            found = watched(found, ("object",), self._note(it))
        self._doubts.taken()
        return found

    def _read(self, it: Object, data: Any, type_: type[T], within: Path) -> T | None:
        read = self._converted(it, data, type_, within)
        for path in self._misspelt.get(it.at, ()):
            if path in (within, within[: len(path)]):
                return None  # it is the whole
            if path[: len(within)] == within and read is not None:
                if it.at in self._unread:
                    return None
                read = watched_if_there(read, path[len(within) :], self._note(it))
        self._doubts.taken()  # what reading has looked at
        return read

    def _converted(self, it: Object, data: Any, type_: type[T], within: Path) -> T | None:
        try:
            return msgspec.convert(data, type_, dec_hook=decoded)
        except (msgspec.ValidationError, RecursionError):
            pass
        unknown: list[Path] = []
        try:
            data = _without_nulls(data)  # the API server takes null for absent
            while True:
                try:
                    read = msgspec.convert(data, type_, dec_hook=decoded)
                    break
                except msgspec.ValidationError as error:
                    message, path = _said(str(error))
                    self.malformed.append(Malformed(it, (*within, *path), message))
                    field = unknown_field(path)
                    if not field or it.at in self._unread or len(unknown) == MAX_UNKNOWN:
                        return None
                    unknown.append(field)
                    data = left_out(data, field)
        except RecursionError:
            self.malformed.append(Malformed(it, within, "it nests too deep to be read"))
            return None
        for field in outermost(unknown):
            read = watched(read, field, self._note(it))
        return read

    def _template(
        self, it: Object, path: Path, data: Any, replicas: int | None
    ) -> workloads.Template | None:
        if not isinstance(data, dict):
            self._mistyped(it, path, data, "object")
            return None
        spec, metadata = data.get("spec"), data.get("metadata")
        read = self._read(it, {} if spec is None else spec, workloads.PodSpec, (*path, "spec"))
        if read is None:
            return None
        if not isinstance(metadata, dict | None):
            self._mistyped(it, (*path, "metadata"), metadata, "object")
            return None
        made = workloads.Template(
            at=it.at.to(*path),
            labels=keyed_texts(metadata, "labels"),
            annotations=keyed_texts(metadata, "annotations"),
            spec=read,
            replicas=replicas,
        )
        note = self._note(it)
        slips = self._misspelt.get(it.at, ())
        if any(slip[: len(path)] != path for slip in slips):
            made = watched(made, ("replicas",), note)
        for name in ("labels", "annotations"):
            whole = (*path, "metadata", name)
            wrong = [*_no_texts(whole, (metadata or {}).get(name))]
            for where, value in wrong:
                self._mistyped(it, where, value, "object" if where == whole else "str")
            if wrong and it.at in self._unread:
                return None
            if wrong or {(*path, "metadata"), (*path, "metadata", name)}.intersection(slips):
                made = watched(made, (name,), note)
        return made

    def _mistyped(self, it: Object, path: Path, value: Any, wanted: str) -> None:
        got = _AS_MSGSPEC.get(type(value), type(value).__name__)
        message = f"Expected {wanted}, got {got}"
        self.malformed.append(Malformed(it, path, message))

    def _note(self, it: Object) -> Callable[[], None]:
        """What notes that an unknown field of an object is looked at."""
        return partial(self._doubts.note, it.at)


def _no_texts(path: Path, data: Any) -> Iterable[tuple[Path, Any]]:
    """What is no text of a mapping of texts, or the whole if it is no mapping."""
    if isinstance(data, dict):
        for key, value in data.items():
            if not isinstance(value, str | None):
                yield (*path, key), value
    elif data is not None:
        yield path, data


def decoded(type_: type[Any], value: Any) -> Any:
    """What msgspec asks for the types that it does not know: quantities. Raises ValueError."""
    if type_ is Fraction:
        return quantity.parse(value).value
    raise NotImplementedError(type_)


def _without_nulls(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _without_nulls(value) for key, value in data.items() if value is not None}
    if isinstance(data, list):
        return [_without_nulls(value) for value in data]
    return data


_STEP = re.compile(r"\.([^.\[\]`]+)|\[([0-9]+|\.\.\.)\]")


def _said(error: str) -> tuple[str, Path]:
    """A message of msgspec, and its path: "Expected `int`, got `str` - at `$.a[0]`"."""
    message, _, where = error.partition(" - at `")
    path: list[str | int] = []
    for name, index in _STEP.findall(where.removeprefix("key in ").rstrip("`")):
        if index == "..." or name == "...":
            break  # a key of a mapping, which msgspec does not name
        path.append(name or int(index))
    return message.replace("`", ""), tuple(path)
