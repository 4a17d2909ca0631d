"""Reads the file of a trace."""

import gzip
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TextIO, cast

from policygen.core.errors import UnreadError
from policygen.simulate.traces import forms
from policygen.simulate.traces.job import TraceJob

_EVERY_S = 0.2
"""So often progress is shown."""
_GZIP = b"\x1f\x8b"


def read(path: Path, form: str | None, progress: Callable[[str], None]) -> list[TraceJob]:
    """The jobs of a file, which may be compressed with gzip. Raises UnreadError and InvalidTraceError."""
    try:
        with _opened(path) as lines:
            return list(_shown(forms.jobs(lines, str(path), form), progress))
    except (OSError, EOFError, UnicodeDecodeError) as reason:
        words = reason.strerror if isinstance(reason, OSError) and reason.strerror else reason
        raise UnreadError(f"{path}: the trace cannot be read: {words}") from reason
    finally:
        progress("")


def _opened(path: Path) -> TextIO:
    with path.open("rb") as start:
        packed = start.read(2) == _GZIP
    if packed:
        return cast("TextIO", gzip.open(path, "rt", encoding="utf-8-sig", newline=""))
    return path.open(encoding="utf-8-sig", newline="")


def _shown(jobs: Iterable[TraceJob], progress: Callable[[str], None]) -> Iterator[TraceJob]:
    shown = time.monotonic()
    for i, job in enumerate(jobs):
        if not i & 0xFFF and time.monotonic() - shown > _EVERY_S:
            shown = time.monotonic()
            progress(f"reading the trace: {i:,} jobs")
        yield job
