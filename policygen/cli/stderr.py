"""What commands print to standard error: findings, notes, and progress."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import click

from policygen.core.errors import SpecError
from policygen.core.finding import Finding
from policygen.core.rule import Severity


def show(findings: Iterable[Finding], *, quiet: bool = False) -> None:
    """Print errors and warnings with their lines, then the notes unless `quiet`."""
    from policygen.report import text

    if sys.stderr is None:
        return
    found = list(findings)
    colour = text.colours(sys.stderr, os.environ)
    serious = [finding for finding in found if finding.severity > Severity.INFO]
    text.write(serious, sys.stderr, colour=colour)
    if not quiet:
        notes = [finding for finding in found if finding.severity == Severity.INFO]
        text.write(notes, sys.stderr, colour=colour, excerpt=False)


def say(message: str) -> None:
    """Print one line. Characters that the terminal cannot show are escaped."""
    from policygen.report import text

    if sys.stderr is not None:
        click.echo(text.printable(message, sys.stderr.encoding or "utf-8"), err=True)


_COLUMNS = 80
"""The width of a terminal that does not report it."""


def progress(what: str) -> None:
    """Show on a terminal what is being read; the next call replaces the line."""
    from policygen.report.text import printable

    if sys.stderr is None or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return
    columns = os.get_terminal_size(sys.stderr.fileno()).columns or _COLUMNS
    sys.stderr.write(f"\r\x1b[K{printable(what[: columns - 1], 'ascii')}")
    sys.stderr.flush()


@contextmanager
def without_notes(*, quiet: bool) -> Iterator[None]:
    """If `quiet`, remove the notes from the error of an invalid spec."""
    try:
        yield
    except SpecError as error:
        if not quiet:
            raise
        serious = [finding for finding in error.findings if finding.severity > Severity.INFO]
        raise SpecError(serious) from None
