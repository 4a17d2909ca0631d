"""The forms of traces, by name."""

from collections.abc import Iterable, Iterator
from itertools import chain

from policygen.simulate.traces import openb_pods, own_csv, philly
from policygen.simulate.traces.job import TraceJob
from policygen.simulate.traces.table import TraceFaults

CSV, PHILLY, OPENB = "csv", "philly", "openb"
FORMS = (CSV, PHILLY, OPENB)


def jobs(
    lines: Iterable[str],
    source: str,
    form: str | None = None,
    default_duration: float | None = None,
) -> Iterator[TraceJob]:
    """The jobs of a trace in the order of time. `source` is the name of the file, for messages.

    Without `form`, the header decides. Raises InvalidInputError after the last row, with all faults.
    """
    rest = iter(lines)
    header = next(rest, "")
    lines = chain([header], rest) if header else ()
    faults = TraceFaults(source)
    match form or _form(header):
        case "philly":
            yield from philly.jobs(lines, faults)
        case "openb":
            yield from openb_pods.jobs(lines, faults)
        case _:
            yield from own_csv.jobs(lines, faults, default_duration)
    faults.check()


def _form(header: str) -> str:
    if "num_gpus" in header and "timestamp" in header:
        return PHILLY
    return OPENB if "creation_time" in header else CSV
