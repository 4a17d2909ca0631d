"""The file of a snapshot: gzip, one JSON value per line. The last line proves that it is complete.

    {"seen": {"context": ..., "taken": ..., "read": [...], ...}, "policygenSnapshot": 1}
    ["object", {...}]           an object
    ["spec", {...}]             the spec of pods; numbered from 0
    ["pod", "ns", "name", 0, ...]   a pod, and the number of its spec
    ["end", objects, specs, pods]

A line refers only to earlier lines. Another version, a missing end, or an end with other numbers is
an error: an incomplete cluster must not look complete.
"""

import gzip
import io
import zlib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import msgspec
from msgspec import Struct
from msgspec.structs import astuple

from policygen.core import atomic
from policygen.core.decoding import decode, decoder
from policygen.core.finding import At
from policygen.kubernetes.object import Object
from policygen.kubernetes.snapshot import Owner, Pod, Seen, Snapshot
from policygen.kubernetes.typed import decoded
from policygen.kubernetes.workloads import PodSpec

VERSION = 1
MARK = "policygenSnapshot"
MAX_UNPACKED_BYTES = 512 << 20
"""Limit of the unpacked size. A snapshot of 50,000 pods has about 20 MB."""
_FASTEST_GOOD = 6
_NANO = 10**9
_GZIP = b"\x1f\x8b"
_DAMAGED = "the snapshot is truncated or damaged; take a new snapshot"


class SnapshotError(Exception):
    """A file is not a complete snapshot of this version; the message is the reason."""


_Time = Annotated[datetime, msgspec.Meta(tz=True)]


class _Header(Struct, frozen=True):
    seen: Seen
    version: int = msgspec.field(name=MARK, default=VERSION)


class _ObjectLine(Struct, frozen=True, array_like=True, tag="object"):
    data: dict[str, Any]


class _SpecLine(Struct, frozen=True, array_like=True, tag="spec"):
    spec: PodSpec


class _PodLine(Struct, frozen=True, array_like=True, tag="pod"):
    """The fields of a Pod from its namespace on, in their order; its spec is a number."""

    namespace: str
    name: str
    spec: int
    node: str
    phase: str
    owner: Owner | None
    labels: dict[str, str]
    annotations: dict[str, str]
    created: _Time | None
    deleted: _Time | None
    gates: tuple[str, ...]
    waiting: str
    unscheduled: str
    unscheduled_why: str = ""  # later than the others


class _EndLine(Struct, frozen=True, array_like=True, tag="end"):
    objects: int
    specs: int
    pods: int


_Line = _ObjectLine | _SpecLine | _PodLine | _EndLine


def is_snapshot(path: str) -> bool:
    """Whether a file is compressed, as snapshots are. A pipe is none: it can be read only once."""
    try:
        if not Path(path).is_file():
            return False
        with Path(path).open("rb") as file:
            return file.read(len(_GZIP)) == _GZIP
    except (OSError, ValueError):
        return False


def write(snapshot: Snapshot, path: Path) -> None:
    """Write the file atomically; only its owner may read a new file. Raises OSError, RuntimeError."""
    atomic.write(path, packed(snapshot), private=True)


def packed(snapshot: Snapshot) -> bytes:
    """The content of the file."""
    out = io.BytesIO()
    with gzip.GzipFile("", "wb", _FASTEST_GOOD, out, mtime=0) as file:
        file.writelines(line + b"\n" for line in _lines(snapshot))
    return out.getvalue()


def read(file: BinaryIO, *, document: int = 0) -> Snapshot:
    """The snapshot in a file. `document` is the index of the document of its objects.

    Raises SnapshotError, and OSError if the file cannot be read.
    """
    blocks = _unpacked(file)
    first, _, rest = next(blocks, b"").partition(b"\n")
    return _snapshot(_header(first), _decoded(chain((rest,), blocks)), document)


def _decoded(blocks: Iterable[bytes]) -> Iterator[_Line]:
    lines: msgspec.json.Decoder[_Line] = decoder(_Line, decoded)  # type: ignore[arg-type] # a union
    try:
        for block in blocks:
            yield from lines.decode_lines(block)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        # The message of the decoder is about our own format, which users do not write.
        raise SnapshotError(_DAMAGED) from error


def _unpacked(file: BinaryIO) -> Iterator[bytes]:
    """Complete lines, in blocks of about 1 MiB."""
    size, parts = 0, list[bytes]()
    start = file.read(len(_GZIP))
    if start != _GZIP:
        raise SnapshotError("the file is not a snapshot; create one with `policygen snapshot`")
    whole = io.BytesIO(start + file.read())  # packed, it is small
    try:
        with gzip.GzipFile(fileobj=whole, mode="rb") as content:
            while part := content.read(1 << 20):
                size += len(part)
                if size > MAX_UNPACKED_BYTES:
                    raise SnapshotError(
                        f"the snapshot is larger than {MAX_UNPACKED_BYTES >> 20} MiB when "
                        "decompressed, the limit of policygen"
                    )
                lines, line_break, part = part.rpartition(b"\n")
                if line_break:
                    yield b"".join((*parts, lines, line_break))
                    parts = []
                parts.append(part)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise SnapshotError(_DAMAGED) from None
    yield b"".join(parts)


def _header(line: bytes) -> Seen:
    try:
        mark = decode(line, dict[str, Any]).get(MARK)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        mark = None
    if mark is None:
        raise SnapshotError("the file is not a snapshot; create one with `policygen snapshot`")
    if mark != VERSION:
        raise SnapshotError(
            f"the snapshot has format {mark!r}, but this policygen reads format {VERSION}; take a "
            "new snapshot"
        )
    try:
        seen = decode(line, _Header).seen
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise SnapshotError(f"the snapshot is damaged: {error}; take a new snapshot") from None
    if seen.taken.tzinfo is None:
        raise SnapshotError(
            "the snapshot is damaged: its time has no time zone; take a new snapshot"
        )
    return seen


def _snapshot(seen: Seen, lines: Iterable[_Line], document: int) -> Snapshot:
    objects: list[Object] = []
    specs: list[PodSpec] = []
    pods: list[Pod] = []
    end: _EndLine | None = None
    for line in lines:
        if end is not None:
            raise SnapshotError(
                "the snapshot is damaged: it has data after its end; take a new snapshot"
            )
        match line:
            case _ObjectLine(data):
                objects.append(_object(data, At(document, ("objects", len(objects)))))
            case _SpecLine(spec):
                specs.append(spec)
            case _PodLine():
                if not 0 <= line.spec < len(specs):
                    raise SnapshotError(
                        "the snapshot is damaged: a pod has no spec; take a new snapshot"
                    )
                namespace, name, number, *others = astuple(line)
                pods.append(Pod(document, len(pods), namespace, name, specs[number], *others))
            case _EndLine():
                end = line
    if end != _EndLine(len(objects), len(specs), len(pods)):
        raise SnapshotError(_DAMAGED)
    return Snapshot(seen, tuple(objects), tuple(pods))


def _object(data: dict[str, Any], at: At) -> Object:
    found = Object.read(data, at)
    if found is None:
        raise SnapshotError(
            "the snapshot is damaged: an object has no apiVersion and kind; take a new snapshot"
        )
    return found


def _lines(snapshot: Snapshot) -> Iterator[bytes]:
    encode = msgspec.json.Encoder(enc_hook=_encoded).encode
    yield encode(_Header(snapshot.seen))
    for listed in snapshot.objects:
        yield encode(_ObjectLine(listed.data))
    numbers: dict[int, int] = {}
    for pod in snapshot.pods:
        number = numbers.get(id(pod.spec))
        if number is None:
            number = numbers[id(pod.spec)] = len(numbers)
            yield encode(_SpecLine(pod.spec))
        _, _, namespace, name, _, *others = astuple(pod)
        yield encode(_PodLine(namespace, name, number, *others))
    yield encode(_EndLine(len(snapshot.objects), len(numbers), len(snapshot.pods)))


def _encoded(value: Any) -> Any:
    if isinstance(value, Fraction):  # the smallest step of a quantity is 1/10⁹
        return str(value) if value.denominator == 1 else f"{value * _NANO}n"
    raise NotImplementedError(type(value))


def now() -> datetime:
    """The current time for a snapshot, in seconds."""
    return datetime.now(UTC).replace(microsecond=0)
