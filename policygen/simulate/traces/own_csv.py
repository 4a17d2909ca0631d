"""Reads policygen's own CSV form of a trace. docs/traces.md describes it."""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from msgspec import Struct

from policygen.core import quantity
from policygen.simulate.traces.job import TraceJob, TraceRequest
from policygen.simulate.traces.table import TraceFaults, TraceTable


class TraceColumn(Struct, frozen=True):
    """A column of the CSV form."""

    name: str
    type: str
    default: str
    about: str


COLUMNS = (
    TraceColumn(
        "time",
        "duration, or date and time",
        "required",
        "When the job is submitted: seconds or a duration from the start of the trace, or a time "
        "such as `2026-01-31T09:30:00Z`, where the first row is the start.",
    ),
    TraceColumn("duration", "duration", "required", "How long the job must run."),
    TraceColumn(
        "team", "name", "team of `queue`", "The team of the spec; without a spec, the namespace."
    ),
    TraceColumn(
        "queue",
        "name, or `NAMESPACE/NAME`",
        "a queue of `team`",
        "The LocalQueue. A trace needs the column `team` or `queue`.",
    ),
    TraceColumn("pods", "whole number", "1", "The number of pods, at most a million."),
    TraceColumn("gpus", "whole number", "0", "GPUs of each pod."),
    TraceColumn("cpu", "quantity", "not set", "CPU of each pod, such as `4` or `500m`."),
    TraceColumn("memory", "quantity", "not set", "Memory of each pod, such as `16Gi`."),
    TraceColumn(
        "priority",
        "name or whole number",
        "default of the cluster",
        "A WorkloadPriorityClass, a PriorityClass, or its value.",
    ),
    TraceColumn(
        "gang",
        "`yes` or `no`",
        "`yes`",
        "`yes`: the pods are admitted together. `no`: each pod is a workload of its own.",
    ),
    TraceColumn(
        "selector",
        "`KEY=VALUE`, separated by spaces",
        "not set",
        "The node selector of the pods, which selects flavors and nodes.",
    ),
    TraceColumn("name", "name", "`job-` and the line", "The name of the job in the report."),
)
_NAMES = tuple(it.name for it in COLUMNS)
_OF_REQUEST = ("pods", "gpus", "cpu", "memory", "priority", "gang", "selector")
_GANG = {"": True, "yes": True, "true": True, "no": False, "false": False}


def jobs(
    lines: Iterable[str], faults: TraceFaults, default_duration: float | None = None
) -> Iterator[TraceJob]:
    """The jobs of a file, whose rows are in the order of time.

    `default_duration` is that of rows without one. The faults are complete when the iterator ends.
    """
    table = TraceTable(lines, faults)
    required = ["time"] if default_duration is not None else ["time", "duration"]
    if not (table.has("team") or table.has("queue")):
        required.append("team")
    if table.check(required, _NAMES):
        yield from _Rows(table, default_duration).read()


class _Rows:
    """The rows of a table as jobs."""

    def __init__(self, table: TraceTable, default_duration: float | None) -> None:
        self._table = table
        self._default_duration = default_duration
        self._cells = table.positions(_OF_REQUEST)
        self._requests: dict[tuple[str, ...], TraceRequest] = {}
        self._first: tuple[float, bool] | None = None
        self._latest, self._latest_line = 0.0, 0
        self._names: set[str] = set()

    def read(self) -> Iterator[TraceJob]:
        table = self._table
        named = table.has("name")
        for row in table.rows():
            before = len(table.faults)
            at = self._time(row)
            duration = table.duration(row, "duration", self._default_duration)
            team, queue = table.cell(row, "team"), table.cell(row, "queue")
            if not team and not queue:
                column = "team" if table.has("team") else "queue"
                table.fault(column, "is missing", f"write a {column}")
            request = self._request(row)
            name = (table.cell(row, "name") if named else "") or f"job-{table.line}"
            if named:
                if name in self._names:
                    table.fault("name", "is used by an earlier row", "write another name", name)
                self._names.add(name)
            if len(table.faults) == before and at is not None:
                yield TraceJob(name, at, duration, team, queue, request)

    def _time(self, row: list[str]) -> float | None:
        table = self._table
        found = table.time(row, "time")
        if found is None:
            return None
        if self._first is None:
            self._first = (found[0], True) if found[1] else (0.0, False)
        start, dated = self._first
        at = found[0] - start
        if dated != found[1]:
            form = "a date and time" if dated else "seconds or a duration"
            table.fault("time", "has another form than the first row", f"write {form}")
            return None
        if at < self._latest:
            words = f"write the rows in the order of time; line {self._latest_line} is later"
            table.fault("time", "is before that of an earlier row", words, table.cell(row, "time"))
            return None
        self._latest, self._latest_line = at, table.line
        return at

    def _request(self, row: list[str]) -> TraceRequest:
        key = tuple([row[i] for i in self._cells.values()])
        found = self._requests.get(key)
        if found is None:
            before = len(self._table.faults)
            found = self._read_request({it: row[i].strip() for it, i in self._cells.items()})
            if len(self._table.faults) == before:
                self._requests[key] = found
        return found

    def _read_request(self, cells: Mapping[str, str]) -> TraceRequest:
        table = self._table
        selector, gang = cells.get("selector", ""), cells.get("gang", "").lower()
        pairs = [it.partition("=") for it in selector.split()]
        if any(not key or not equals for key, equals, _ in pairs):
            table.fault("selector", "is not valid", "write KEY=VALUE KEY=VALUE", selector)
        if gang not in _GANG:
            table.fault("gang", "is not valid", "write yes or no", gang)
        return TraceRequest(
            pods=table.size(cells.get("pods", ""), "pods"),
            gpus=table.number(cells.get("gpus", ""), "gpus"),
            cpu=self._amount(cells.get("cpu", ""), "cpu", "4 or 500m"),
            memory=self._amount(cells.get("memory", ""), "memory", "16Gi"),
            priority=cells.get("priority", ""),
            gang=_GANG.get(gang, True),
            selector=tuple(sorted((key, value) for key, _, value in pairs)),
        )

    def _amount(self, text: str, column: str, example: str) -> Fraction | None:
        if not text:
            return None
        try:
            found = quantity.parse(text).value
        except ValueError as reason:
            self._table.refuse(column, f"quantity {column}", f"{column} {reason}")
            return None
        if found < 0:
            self._table.fault(column, "is negative", f"write a quantity such as {example}", text)
        return found
