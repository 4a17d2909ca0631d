"""Reads the pods of openb, the trace of the FGD paper (ATC 2023; cluster-trace-gpu-v2023), as jobs.

The file names no teams. `policygen.simulate.openb` reads the nodes.
"""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from policygen.simulate.traces.job import TraceJob, TraceRequest
from policygen.simulate.traces.table import TraceFaults, TraceTable

COLUMNS = (
    "name",
    "cpu_milli",
    "memory_mib",
    "num_gpu",
    "gpu_milli",
    "creation_time",
    "deletion_time",
)
_WHOLE = 1000
"""Thousandths of a GPU."""
_OF_REQUEST = ("cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec")


def jobs(lines: Iterable[str], faults: TraceFaults) -> Iterator[TraceJob]:
    """The pods, sorted by time. The faults are complete before the first one comes."""
    table = TraceTable(lines, faults)
    if not table.check(COLUMNS):
        return
    requests: dict[tuple[str, ...], TraceRequest] = {}
    found: list[tuple[float, int, float, str, TraceRequest]] = []
    for row in table.rows():
        at = table.time(row, "creation_time")
        end = table.duration(row, "deletion_time")
        cells = tuple(table.cell(row, it) for it in _OF_REQUEST)
        request = requests.get(cells)
        if request is None:
            before = len(faults)
            request = _request(table, dict(zip(_OF_REQUEST, cells, strict=True)))
            if len(faults) == before:
                requests[cells] = request
        if at is None or end is None:
            continue
        if end < at[0]:
            table.fault(
                "deletion_time",
                "is before creation_time",
                "write a later time",
                table.cell(row, "deletion_time"),
            )
        else:
            found.append((at[0], table.line, end - at[0], table.cell(row, "name"), request))
    found.sort(key=lambda it: it[:2])
    start = found[0][0] if found else 0.0
    for at_s, _, duration, name, request in found:
        yield TraceJob(name, at_s - start, duration, "", "", request)


def _request(table: TraceTable, cells: Mapping[str, str]) -> TraceRequest:
    def number(column: str, default: int = 0) -> int:
        return table.number(cells[column], column, default=default)

    gpus = number("num_gpu")
    return TraceRequest(
        gpus=gpus,
        cpu=Fraction(number("cpu_milli"), 1000),
        memory=Fraction(number("memory_mib") << 20),
        models=tuple(it for it in cells["gpu_spec"].split("|") if it) if gpus else (),
        partial=number("gpu_milli", _WHOLE) < _WHOLE and gpus > 0,
    )
