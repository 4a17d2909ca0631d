"""Cases of `policygen test` after their run, and how they are written: as text, Markdown, JSON or JUnit XML."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TextIO

from msgspec import Struct

from policygen.core.quoting import counted
from policygen.report.junit import write_suite
from policygen.report.markdown_page import MarkdownPage
from policygen.report.phrases import write_json
from policygen.report.text import printable
from policygen.testing.cases import Case
from policygen.testing.expected import CaseDifference, Expected

VERSION = 1
"""Version of the JSON; increased when a field changes its meaning or is removed, not for a new field."""


class CaseOutcome(Struct, frozen=True):
    """A case, and what was found in it."""

    case: Case
    found: tuple[Expected, ...]
    difference: CaseDifference
    crashed: tuple[str, ...] = ()
    """Rules that have a bug."""

    @property
    def passed(self) -> bool:
        """Whether the findings are the expected ones and no rule crashed."""
        return not self.difference and not self.crashed


def failed(outcomes: Sequence[CaseOutcome]) -> int:
    """The number of cases that did not pass."""
    return sum(not each.passed for each in outcomes)


def text(outcomes: Sequence[CaseOutcome], out: TextIO) -> None:
    """Write one line for each case, its differences below it, and a summary."""
    for outcome in outcomes:
        found = counted(len(outcome.found), "finding")
        word = "ok  " if outcome.passed else "FAIL"
        out.write(f"{word}  {printable(outcome.case.name)}  {found}\n")
        out.writelines(f"      {line}\n" for line in _difference(outcome))
    out.write(f"{_summary(outcomes)}\n")


def markdown(outcomes: Sequence[CaseOutcome], out: TextIO) -> None:
    """Write a table of the cases, and the differences of those that did not pass."""
    page = MarkdownPage(out)
    rows = [
        (it.case.name, "passed" if it.passed else "failed", f"{len(it.found)}") for it in outcomes
    ]
    page.table(f"policygen test: {_summary(outcomes)}", ("CASE", "RESULT", "FINDINGS"), rows, (2,))
    for outcome in outcomes:
        if not outcome.passed:
            page.heading(outcome.case.name)
            page.code("\n".join(_difference(outcome)), "")


def json(outcomes: Sequence[CaseOutcome], out: TextIO) -> None:
    """Write one JSON object and a newline, as schemas/test.schema.json describes it."""
    cases = [
        {
            "case": it.case.name,
            "passed": it.passed,
            "found": [str(one) for one in it.found],
            "missing": [str(one) for one in it.difference.missing],
            "unexpected": [str(one) for one in it.difference.unexpected],
            "moved": [{"from": str(before), "to": str(now)} for before, now in it.difference.moved],
            "crashed": [*it.crashed],
        }
        for it in outcomes
    ]
    write_json({"version": VERSION, "failed": failed(outcomes), "cases": cases}, out)


def junit(outcomes: Sequence[CaseOutcome], out: TextIO) -> None:
    """Write a test suite with one test case for each case."""
    import junitparser  # noqa: PLC0415 - text does not pay for its import

    cases = []
    for outcome in outcomes:
        case: Any = junitparser.TestCase(printable(outcome.case.name), "policygen.test")
        lines = list(_difference(outcome))
        if lines:
            kind = junitparser.Error if outcome.crashed else junitparser.Failure
            result = kind(printable(lines[0]))
            result.text = "\n".join(map(printable, lines))
            case.append(result)
        cases.append(case)
    write_suite("policygen test", cases, out)


FORMS: Mapping[str, Callable[[Sequence[CaseOutcome], TextIO], None]] = {
    "text": text,
    "json": json,
    "markdown": markdown,
    "junit": junit,
}
"""The name of a format to the function that writes it."""


def _summary(outcomes: Sequence[CaseOutcome]) -> str:
    return f"{counted(len(outcomes), 'case')}, {failed(outcomes)} failed"


def _difference(outcome: CaseOutcome) -> Iterator[str]:
    for rule in outcome.crashed:
        yield f"rule {rule} has a bug; please report it"
    for line in outcome.difference.missing:
        yield f"missing     {line}"
    for line in outcome.difference.unexpected:
        yield f"unexpected  {line}"
    for before, now in outcome.difference.moved:
        yield f"moved       {before}"
        yield f"         to {now}"
