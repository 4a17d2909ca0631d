"""Faults of a user's objects for which no job can be simulated as it is written.

Rules of lint find what a server refuses.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from policygen.api_validation import schemas
from policygen.core import durations
from policygen.core.finding import THERE, At
from policygen.core.quoting import quoted
from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import mapping
from policygen.kubernetes.workloads import TEMPLATES

ARRIVES_AFTER = "policygen.dev/arrives-after"
"""The annotation of a job with the time from the start of the simulation to its creation, such as `10m`."""
RUNS_FOR = "policygen.dev/runs-for"
"""The annotation of a job with the time that it must run."""


class InputFault(NamedTuple):
    """A fault of an object."""

    at: At
    message: str
    """What is wrong and what to write instead. `THERE` stands for the place of `other`."""
    other: At | None = None


def input_faults(objects: Iterable[Object]) -> Iterator[InputFault]:
    """The faults of objects: those that exist twice, jobs without a name, and invalid times."""
    first: dict[tuple[str, str, str, str], Object] = {}
    for it in objects:
        is_job = (it.group, it.kind) in TEMPLATES
        earlier = first.setdefault(it.identity, it) if it.name else it
        if earlier is not it and (is_job or earlier.data != it.data):
            yield InputFault(
                it.at.to("metadata", "name"),
                f"{it} is in the input twice, first at {THERE}; rename or remove one of the two",
                earlier.at.to("metadata", "name"),
            )
        if is_job:
            yield from _unnamed(it)
            yield from _times(it)


def _unnamed(job: Object) -> Iterator[InputFault]:
    """A job of an operator's kind without a name, of which no schema is known."""
    if schemas.served(job.api_version, job.kind) is not None or job.name:
        return
    if not mapping(job.data, "metadata").get("generateName"):
        at = job.at.to("metadata", "name")
        yield InputFault(at, f'{job} has no name that is text; write a name in quotes, such as "a"')


def _times(job: Object) -> Iterator[InputFault]:
    for key in (ARRIVES_AFTER, RUNS_FOR):
        text = job.annotations.get(key)
        found = durations.written(text)
        if text is not None and (found is None or found < 0):
            fault = "is not a duration" if found is None else "is negative"
            words = f"annotation {key} {quoted(text)} {fault}; {durations.EXAMPLES}"
            yield InputFault(job.at.to("metadata", "annotations", key), f"{job}: {words}")
