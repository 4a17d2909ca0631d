"""Reads the trace of a real GPU cluster that was published with the FGD paper (openb; cluster-trace-gpu-v2023).

The nodes and the pods are CSV files. The columns of pods after `gpu_spec` may be missing.
"""

import csv
from collections.abc import Iterable, Iterator
from fractions import Fraction

from msgspec import Struct

from policygen.core.errors import UnreadError
from policygen.core.names import GPU, HOSTNAME
from policygen.kubernetes.node_groups import Node

MODEL = "gpu-model"
"""The label with the GPU model of a node."""
WHOLE = 1000
"""Thousandths of a GPU."""
_MEBI = 1 << 20
_PODS = 1001


class TraceError(UnreadError):
    """A row of a trace is invalid; the message names its line and column."""


class TraceNode(Struct, frozen=True):
    """A node of the trace."""

    name: str
    milli_cpu: int
    memory: int
    """Bytes."""
    gpus: int
    model: str
    """Empty for a node without GPUs."""


class TracePod(Struct, frozen=True):
    """A pod of the trace."""

    name: str
    milli_cpu: int
    memory: int
    """Bytes."""
    gpus: int
    milli_gpu: int
    """Thousandths of each GPU; fewer than 1000 only for one GPU."""
    models: tuple[str, ...]
    """The GPU models that it may use; empty: any."""
    created: float | None = None
    """Seconds from the start of the trace; None: the file does not say."""
    ended: float | None = None

    @property
    def demand(self) -> int:
        """All thousandths of GPUs that it requests."""
        return self.gpus * self.milli_gpu


def nodes(lines: Iterable[str]) -> Iterator[TraceNode]:
    """The nodes of a CSV file. Raises TraceError."""
    for line, row in _rows(lines, ("sn", "cpu_milli", "memory_mib", "gpu", "model")):
        yield TraceNode(
            row["sn"],
            _number(line, row, "cpu_milli"),
            _number(line, row, "memory_mib") * _MEBI,
            _number(line, row, "gpu"),
            row["model"],
        )


def pods(lines: Iterable[str]) -> Iterator[TracePod]:
    """The pods of a CSV file. Raises TraceError."""
    for line, row in _rows(lines, ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli")):
        gpus = _number(line, row, "num_gpu")
        models = tuple((row.get("gpu_spec") or "").split("|")) if gpus else ()
        yield TracePod(
            name=row["name"],
            milli_cpu=_number(line, row, "cpu_milli"),
            memory=_number(line, row, "memory_mib") * _MEBI,
            gpus=gpus,
            milli_gpu=_number(line, row, "gpu_milli") if gpus else 0,
            models=tuple(it for it in models if it),
            created=_time(line, row, "creation_time"),
            ended=_time(line, row, "deletion_time"),
        )


def cluster_nodes(found: Iterable[TraceNode]) -> Iterator[Node]:
    """The nodes as a cluster would list them."""
    for it in found:
        allocatable = {
            "cpu": Fraction(it.milli_cpu, 1000),
            "memory": Fraction(it.memory),
            "pods": Fraction(_PODS),
        }
        if it.gpus:
            allocatable[GPU] = Fraction(it.gpus)
        labels = {HOSTNAME: it.name} | ({MODEL: it.model} if it.model else {})
        yield Node(it.name, labels, allocatable=allocatable)


def _rows(lines: Iterable[str], columns: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
    reader = csv.DictReader(lines)
    missing = [it for it in columns if it not in (reader.fieldnames or ())]
    if missing:
        raise TraceError(
            f"the first line has no column {missing[0]}; a trace needs {', '.join(columns)}"
        )
    for row in reader:
        if any(row.get(it) is None for it in columns):
            raise TraceError(f"line {reader.line_num} has too few columns")
        yield reader.line_num, row


def _number(line: int, row: dict[str, str], column: str) -> int:
    value = row[column].strip()
    if not value.isascii() or not value.isdigit():
        raise TraceError(f'line {line}: {column} must be a whole number, not "{value}"')
    return int(value)


def _time(line: int, row: dict[str, str], column: str) -> float | None:
    value = (row.get(column) or "").strip()
    if not value:
        return None
    try:
        found = float(value)
    except ValueError:
        found = float("nan")
    if not 0 <= found < float("inf"):
        raise TraceError(f'line {line}: {column} must be a number of seconds, not "{value}"')
    return found
