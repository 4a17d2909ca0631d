"""Reads the file of a trace."""

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from policygen.app.throttle import Throttle
from policygen.core.errors import UnreadError
from policygen.simulate.traces import forms
from policygen.simulate.traces.job import TraceJob

GZIP = b"\x1f\x8b"
"""Begins a compressed file."""


def read(path: Path, form: str | None, progress: Callable[[str], None]) -> list[TraceJob]:
    """The jobs of a file, which may be compressed with gzip. Raises UnreadError and InvalidInputError."""
    try:
        with _opened(path) as lines:
            return list(_shown(forms.jobs(lines, str(path), form), progress))
    except UnicodeDecodeError as reason:
        raise _unread(path, "its text is not valid UTF-8; save it as UTF-8") from reason
    except (OSError, EOFError, zlib.error) as reason:
        words = reason.strerror if isinstance(reason, OSError) and reason.strerror else str(reason)
        raise _unread(path, words) from reason
    finally:
        progress("")


def _unread(path: Path, words: str) -> UnreadError:
    return UnreadError(f"{path}: the trace cannot be read: {words}")


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    with path.open("rb") as file:  # only once, because it can be a pipe
        packed = file.peek(2)[:2] == GZIP
        content = cast("BinaryIO", gzip.GzipFile(fileobj=file)) if packed else file
        with TextIOWrapper(content, encoding="utf-8-sig", newline="") as lines:
            yield lines


def _shown(jobs: Iterable[TraceJob], progress: Callable[[str], None]) -> Iterator[TraceJob]:
    throttle = Throttle()
    for i, job in enumerate(jobs):
        if not i & 0xFFF and throttle.allows():
            progress(f"reading the trace: {i:,} jobs")
        yield job
