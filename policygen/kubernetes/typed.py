"""Converts the data of objects to typed fields.

An invalid field becomes an entry of `malformed`, and its object is read without it. Each access to
an invalid field is recorded (`field_access`).
"""

import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import partial
from typing import Any, TypeVar

import msgspec
from msgspec.structs import force_setattr

from policygen.core import quantity
from policygen.core.decoding import converted
from policygen.core.finding import Path
from policygen.core.names import KEYED_METADATA
from policygen.kubernetes import workloads
from policygen.kubernetes.field_access import (
    AccessLog,
    Roots,
    invalid_field,
    outermost,
    watched,
    without,
)
from policygen.kubernetes.object import Object
from policygen.kubernetes.renames import canonical
from policygen.kubernetes.table import Entry, Table
from policygen.kubernetes.untyped import keyed_texts

MAX_UNKNOWN = 20
"""The most invalid fields of an object; an object with more is not read."""

_WORKLOAD = "workload"
"""The attribute of an object for its typed form."""

_AS_MSGSPEC: Mapping[type, str] = {dict: "object", list: "array", type(None): "null"}

T = TypeVar("T")


class InvalidField(msgspec.Struct, frozen=True):
    """An invalid field of an object: why it cannot be read, and where.

    Not a Hit: rules of lint make hits of these, and this package is below them.
    """

    object: Object
    path: Path
    message: str
    beyond: Path = ()
    """The rest of the path if `path` ends at a mapping with free keys: the steps behind its key, which is not known."""


class Reader:
    """Reads the objects of one cluster."""

    def __init__(self, accesses: AccessLog, unread: Roots) -> None:
        self.malformed: list[InvalidField] = []
        """The invalid fields found so far."""
        self._accesses = accesses
        self._unread = unread
        """Objects with invalid fields that another rule has reported; their invalid parts are skipped."""

    def table(
        self, objects: Iterable[Object], type_: type[T], within: Path = (), *, file: bool = False
    ) -> Table[T]:
        """The objects, with the data at `within` converted to a type.

        With `file`, they are controllers' files, in which Go reads an empty entry of a list as a mapping
        without fields.
        """
        entries: list[Entry[T]] = []
        unread: list[Object] = []
        for object_ in objects:
            data: Any = canonical(object_)
            for step in within:
                data = data.get(step)
            before = len(self.malformed)
            data = {} if data is None else data
            read = self._read(object_, data, type_, within, file=file)
            if read is None:
                unread.append(object_)
            elif len(self.malformed) > before and not within:
                # Rules read the raw data of a controller's file, and rely on its types.
                raw = watched(object_, ("data",), self._note(object_))
                entries.append(Entry(raw, read))
            else:
                entries.append(Entry(object_, read))
        return Table(entries, unread, self._accesses)

    def workload_of(self, object_: Object) -> workloads.Workload | None:
        """The pod templates of a workload, or None if they cannot be read and that was reported.

        An object without an invalid field keeps the result, for all clusters that have this object.
        """
        known: workloads.Workload | None = object_.__dict__.get(_WORKLOAD)
        if known is not None:
            return known
        before = len(self.malformed)
        made = [self._template(object_, *each) for each in workloads.raw_templates(object_)]
        whole = None not in made
        if not whole and object_.at in self._unread:
            return None
        found = workloads.Workload.of(object_, (each for each in made if each is not None))
        if not whole:
            for name in ("object", "kind", "namespace", "at"):
                found = watched(found, (name,), self._note(object_))
        elif len(self.malformed) == before:
            object_.__dict__[_WORKLOAD] = found
        self._accesses.take()
        return found

    def _read(
        self, object_: Object, data: Any, type_: type[T], within: Path, *, file: bool = False
    ) -> T | None:
        read = self._converted(object_, data, type_, within, file=file)
        self._accesses.take()  # discards the accesses of the conversion itself
        return read

    def _converted(
        self, object_: Object, data: Any, type_: type[T], within: Path, *, file: bool
    ) -> T | None:
        # Go reads a null amount as 0; for a custom kind, the server drops it.
        hook = decoded if "." in object_.group else _decoded_with_nulls
        try:
            return converted(data, type_, hook)
        except (msgspec.ValidationError, RecursionError):
            pass
        unknown: list[Path] = []
        try:
            data = _without_nulls(data)  # the API server reads null as missing
            while True:
                try:
                    read = converted(data, type_, hook)
                    break
                except msgspec.ValidationError as error:
                    message, path, beyond = _parsed_error(str(error))
                    if file and message == _EMPTY_ENTRY and (full := _filled(data, path)) != data:
                        data = full
                        continue
                    self.malformed.append(InvalidField(object_, (*within, *path), message, beyond))
                    field = invalid_field(path)
                    if not field or object_.at in self._unread or len(unknown) == MAX_UNKNOWN:
                        return None
                    unknown.append(field)
                    data = without(data, field)
        except RecursionError:
            self.malformed.append(
                InvalidField(
                    object_,
                    within,
                    "the object is nested too deep, so lint cannot check it; reduce the nesting",
                )
            )
            return None
        for field in outermost(unknown):
            read = watched(read, field, self._note(object_))
        return read

    def _template(
        self, object_: Object, path: Path, data: Any, replicas: int | None
    ) -> workloads.PodTemplate | None:
        if not isinstance(data, dict):
            self._mistyped(object_, path, data, "object")
            return None
        spec, metadata = data.get("spec"), data.get("metadata")
        read = self._read(object_, {} if spec is None else spec, workloads.PodSpec, (*path, "spec"))
        if read is None:
            return None
        if (name := workloads.scheduler_of_operator(object_)) and not read.scheduler_name:
            force_setattr(read, "scheduler_name", name)
        if not isinstance(metadata, dict | None):
            self._mistyped(object_, (*path, "metadata"), metadata, "object")
            return None
        written = [metadata.get(name) for name in KEYED_METADATA] if metadata else [None, None]
        labels, annotations = map(keyed_texts, written)
        made = workloads.PodTemplate(
            at=object_.at.to(*path),
            labels=labels,
            annotations=annotations,
            spec=read,
            replicas=replicas,
        )
        if (written[0] or labels) is labels and (written[1] or annotations) is annotations:
            return made  # the usual case
        note = self._note(object_)
        for name, value in zip(KEYED_METADATA, written, strict=True):
            whole = (*path, "metadata", name)
            wrong = [*_not_strings(whole, value)]
            for where, other in wrong:
                self._mistyped(object_, where, other, "object" if where == whole else "str")
            if wrong and object_.at in self._unread:
                return None
            if wrong:
                made = watched(made, (name,), note)
        return made

    def _mistyped(self, object_: Object, path: Path, value: Any, wanted: str) -> None:
        got = _AS_MSGSPEC.get(type(value), type(value).__name__)
        message = f"Expected {wanted}, got {got}"
        self.malformed.append(InvalidField(object_, path, message))

    def _note(self, object_: Object) -> Callable[[], None]:
        """A function that records an access to an invalid field of an object."""
        return partial(self._accesses.note, object_.at)


def read_ahead(objects: Iterable[Object]) -> None:
    """Convert the pod templates of objects, so that each cluster that has these objects knows them."""
    reader = Reader(AccessLog(), frozenset())
    for object_ in objects:
        if (object_.group, object_.kind) in workloads.TEMPLATES:
            reader.workload_of(object_)


def _not_strings(path: Path, data: Any) -> Iterable[tuple[Path, Any]]:
    """The values of a mapping that are not strings, or the data itself if it is not a mapping."""
    if isinstance(data, dict):
        for key, value in data.items():
            if not isinstance(value, str | None):
                yield (*path, key), value
    elif data is not None:
        yield path, data


def decoded(type_: type[Any], value: Any) -> Any:
    """Convert a quantity for msgspec, which does not know the type. Raises ValueError."""
    if type_ is not Fraction:
        raise NotImplementedError(type_)
    return quantity.value_of(value) if isinstance(value, str) else quantity.read(value).value


def _decoded_with_nulls(type_: type[Any], value: Any) -> Any:
    if isinstance(value, str):  # the usual case
        return quantity.value_of(value)
    return decoded(type_, 0 if value is None else value)


def _without_nulls(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _without_nulls(value) for key, value in data.items() if value is not None}
    if isinstance(data, list):
        return [_without_nulls(value) for value in data]
    return data


_EMPTY_ENTRY = "Expected object, got null"


def _filled(data: Any, path: Path = ()) -> Any:
    """The data with a mapping for each empty entry of a list at or below a path."""
    if path:
        copy = data.copy()
        copy[path[0]] = _filled(data[path[0]], path[1:])
        return copy
    if isinstance(data, dict):
        return {key: it if it is None else _filled(it) for key, it in data.items()}
    if isinstance(data, list):
        return [_filled(it) for it in data]
    return {} if data is None else data


_STEP = re.compile(r"\.([^.\[\]`]+)|\[([0-9]+|\.\.\.)\]")


def _parsed_error(error: str) -> tuple[str, Path, Path]:
    """The message and the path of an error such as "Expected `int`, got `str` - at `$.a[...][0]`".

    msgspec does not name the key of a mapping. The steps before and behind the first key are returned.
    """
    message, _, where = error.partition(" - at `")
    parts: list[list[str | int]] = [[]]
    for name, index in _STEP.findall(where.rstrip("`")):
        if "..." in (name, index):
            parts.append([])
        else:
            parts[-1].append(name or int(index))
    beyond = parts[1] if len(parts) == 2 else []
    return message.replace("`", ""), tuple(parts[0]), tuple(beyond)
