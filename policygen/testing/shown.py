"""Outcomes of cases as text and as JUnit XML."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TextIO
from xml.sax.saxutils import escape, quoteattr

from policygen.app.test import Outcome, failed
from policygen.report.text import printable


def text(outcomes: Sequence[Outcome], out: TextIO) -> None:
    """A line for each case, what is otherwise than expected below it, and a summary."""
    for each in outcomes:
        count = len(each.found)
        plural = "" if count == 1 else "s"
        word = "ok  " if each.passed else "FAIL"
        out.write(f"{word}  {printable(each.case.name)}  {count} finding{plural}\n")
        out.writelines(f"      {line}\n" for line in _difference(each))
    count, bad = len(outcomes), failed(outcomes)
    out.write(f"{count} case{'s' if count != 1 else ''}, {bad or 'none'} failed\n")


def junit(outcomes: Sequence[Outcome], out: TextIO) -> None:
    """A test suite with a test case for each."""
    crashed = sum(bool(each.crashed) for each in outcomes)
    out.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    out.write(
        f'<testsuites><testsuite name="policygen test" tests="{len(outcomes)}" '
        f'failures="{failed(outcomes) - crashed}" errors="{crashed}" skipped="0">\n'
    )
    for each in outcomes:
        name = quoteattr(printable(each.case.name))
        lines = list(_difference(each))
        out.write(f'<testcase classname="policygen.test" name={name}>')
        if lines:
            tag = "error" if each.crashed else "failure"
            message, body = quoteattr(lines[0]), escape("\n".join(lines))
            out.write(f"<{tag} message={message}>{body}</{tag}>")
        out.write("</testcase>\n")
    out.write("</testsuite></testsuites>\n")


FORMS: Mapping[str, Callable[[Sequence[Outcome], TextIO], None]] = {"text": text, "junit": junit}
"""What writes outcomes, by the name of the format."""


def _difference(each: Outcome) -> Iterator[str]:
    for rule in each.crashed:
        yield f"rule {rule} has a bug; please report it"
    for it in each.difference.missing:
        yield f"missing     {it}"
    for it in each.difference.unexpected:
        yield f"unexpected  {it}"
    for before, now in each.difference.moved:
        yield f"moved       {before}"
        yield f"         to {now}"
