"""What commands say beside their output, on standard error: findings, notes, what is being read."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import click

from policygen.core.errors import SpecError
from policygen.core.finding import Finding, Severity


def show(findings: Iterable[Finding], *, quiet: bool = False) -> None:
    """Errors and warnings with the lines they mean, then the notes."""
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
    """One line to stderr, whatever the names in it hold."""
    from policygen.report import text

    if sys.stderr is not None:
        click.echo(text.printable(message, sys.stderr.encoding or "utf-8"), err=True)


_COLUMNS = 80
"""Of a terminal that does not say."""


def progress(what: str) -> None:
    """Say on a terminal what is being read, in a line that the next one replaces."""
    from policygen.report.text import printable

    if sys.stderr is None or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return
    columns = os.get_terminal_size(sys.stderr.fileno()).columns or _COLUMNS
    sys.stderr.write(f"\r\x1b[K{printable(what[: columns - 1], 'ascii')}")
    sys.stderr.flush()


@contextmanager
def without_notes(*, quiet: bool) -> Iterator[None]:
    """With `quiet` a refused spec is told without its notes, as an accepted one is."""
    try:
        yield
    except SpecError as error:
        if not quiet:
            raise
        raise SpecError([it for it in error.findings if it.severity > Severity.INFO]) from None
