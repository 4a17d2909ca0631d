"""What commands print to standard error: findings, notes, and progress."""

import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from policygen.core.errors import SpecError
from policygen.core.finding import Finding
from policygen.core.rule import Severity

if TYPE_CHECKING:  # --help does not load the plan
    from policygen.plan.pods import PodFields


@contextmanager
def refusals(*, quiet: bool, every: bool) -> Iterator[None]:
    """Print the findings of an invalid spec as `show` does, and exit."""
    try:
        yield
    except SpecError as error:
        from policygen.report import text

        least = Severity.WARNING if quiet else Severity.INFO
        show(error.findings, quiet=quiet, every=every)
        if error.unplanned:
            say("checks that need a valid spec did not run; correct the errors above first")
        say(text.summary(it for it in error.findings if it.severity >= least))
        raise SystemExit(error.exit_code) from None


def show(
    findings: Iterable[Finding],
    *,
    quiet: bool = False,
    every: bool = False,
    pods: Sequence["PodFields"] = (),
) -> None:
    """Print errors and warnings with their lines, then notes, and the fields that pods need.

    Notes are grouped, or one a line with `every`, or hidden if `quiet`. The fields that pods need
    are never hidden.
    """
    from policygen.report import notes, tables, text

    if sys.stderr is None:
        return
    found = list(findings)
    colour = text.colours(sys.stderr, os.environ)
    wide = tables.columns(sys.stderr, os.environ)
    grave = [it for it in found if it.severity > Severity.INFO]
    text.write_findings(grave, sys.stderr, colour=colour, wide=wide)
    minor = [it for it in found if it.severity == Severity.INFO]
    if every and not quiet:
        text.write_findings(minor, sys.stderr, colour=colour, excerpt=False, wide=wide)
        return
    for note in () if quiet else notes.grouped(minor):
        if isinstance(note, Finding):
            text.write_findings([note], sys.stderr, colour=colour, excerpt=False, wide=wide)
        else:
            say(note)
    for line in notes.pod_fields(pods):
        say(line, fold=not line.startswith((" ", "#")))  # YAML to copy


def say(message: str, *, fold: bool = True) -> None:
    """Print one line; on a terminal several if it is too wide, unless `fold` is false.

    Characters that the terminal cannot show are escaped.
    """
    from policygen.report import tables, text

    if sys.stderr is not None:
        shown = text.printable(message, sys.stderr.encoding or "utf-8")
        for line in text.folded(shown, tables.columns(sys.stderr, os.environ) if fold else None):
            click.echo(line, err=True)


def command_without(option: str, *more: str) -> str:
    """The command of this process without an option that is a flag, and with further arguments."""
    given = [it for it in sys.argv[2:] if it != option]
    return f"{click.get_current_context().command_path} {shlex.join([*more, *given])}"


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
