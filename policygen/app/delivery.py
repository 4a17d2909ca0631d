"""A report in several formats, to files and standard output."""

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TextIO, TypeVar

from policygen.app import stdout
from policygen.core import atomic
from policygen.core.errors import UsageError
from policygen.core.finding import Verdict
from policygen.report import tables, text
from policygen.report.catalog import writer
from policygen.report.report import UNREAD, Report

About = TypeVar("About")

_FORBIDDEN = ("403", "the server answered 403")
"""The beginnings of messages about missing permissions."""


def write(
    report: Report,
    outputs: Sequence[tuple[str, Path | None]],
    *,
    quiet: bool = False,
    every: bool = False,
) -> None:
    """Write each format to its file, then the one for standard output (None).

    All formats are complete before anything is written. `quiet` omits notes in text, `every` shows
    repeated findings one by one. Raises UsageError as `send` does.
    """
    made = []
    for name, file in outputs:
        write_page = writer(name)
        if name == "text":
            screen = sys.stdout if file is None else None
            write_page = partial(
                text.full,
                colour=text.colours(screen, os.environ),
                wide=tables.columns(screen, os.environ),
                quiet=quiet,
                every=every,
            )
        made.append((file, page(write_page, report)))
    for result in report.rules:
        if result.verdict == Verdict.CRASHED and sys.stderr is not None:
            sys.stderr.write(f"policygen: rule {result.rule} has a bug; please report it\n")
    if report.incomplete and sys.stderr is not None:
        line = report.incomplete
        if line == UNREAD:
            line += ", so findings may be missing"
        if any(gap.reason.startswith(_FORBIDDEN) for gap in report.gaps):
            line += "; `policygen rbac` prints the required permissions"
        sys.stderr.write(f"policygen: {line}\n")
    send(made)


def page(write_page: Callable[[About, TextIO], None], about: About) -> bytes:
    """The output of a writer, as bytes."""
    out = io.StringIO()
    write_page(about, out)
    return out.getvalue().encode("utf-8", "backslashreplace")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise UsageError if a file cannot be written in this block."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        raise UsageError(f"{path} cannot be written: {atomic.reason(error)}") from None


def send(made: Iterable[tuple[Path | None, bytes]]) -> None:
    """Write pages to their files, then the one for standard output (None).

    Raises UsageError after everything that can be written is written.
    """
    failed = []
    for file, data in sorted(made, key=lambda each: each[0] is None):
        if file is None:
            stdout.out(data, "write -f FORMAT=FILE")
            continue
        try:
            with writing(file):
                atomic.write(file, data)
        except UsageError as error:
            failed.append(str(error))
    if failed:
        raise UsageError("; ".join(failed))
