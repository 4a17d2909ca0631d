"""Reads the trace of Microsoft's Philly clusters (Jeon et al., ATC 2019), in the form of the Sia artifact.

Columns: timestamp, duration (seconds), num_gpus (of the job), cluster (the team). The file does not say
how a job is split into pods; a pod gets at most the GPUs of one node.
"""

from collections.abc import Iterable, Iterator

from policygen.simulate.traces.job import TraceJob, TraceRequest
from policygen.simulate.traces.table import TraceFaults, TraceTable

COLUMNS = ("timestamp", "duration", "num_gpus", "cluster")
GPUS_PER_NODE = 8


def jobs(
    lines: Iterable[str], faults: TraceFaults, gpus_per_node: int = GPUS_PER_NODE
) -> Iterator[TraceJob]:
    """The jobs, sorted by time. The faults are complete before the first one comes."""
    table = TraceTable(lines, faults)
    if not table.check(COLUMNS):
        return
    requests: dict[int, TraceRequest] = {}
    found: list[tuple[float, int, float | None, str, TraceRequest]] = []
    for row in table.rows():
        at = table.time(row, "timestamp")
        duration = table.duration(row, "duration")
        team = table.cell(row, "cluster")
        if not team:
            table.fault("cluster", "is missing", "write the team")
        gpus = table.size(table.cell(row, "num_gpus"), "num_gpus")
        request = requests.get(gpus)
        if request is None:
            request = requests[gpus] = split(gpus, gpus_per_node)
        if at is not None:
            found.append((at[0], table.line, duration, team, request))
    found.sort(key=lambda it: it[:2])
    start = found[0][0] if found else 0.0
    for at_s, line, duration, team, request in found:
        yield TraceJob(f"job-{line}", at_s - start, duration, team, "", request)


def split(gpus: int, most: int) -> TraceRequest:
    """The fewest equal pods that request `gpus` together, and each at most `most`."""
    pods = next(it for it in range(max(1, -(-gpus // most)), gpus + 1) if gpus % it == 0)
    return TraceRequest(pods=pods, gpus=gpus // pods)
