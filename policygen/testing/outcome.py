"""Cases of `policygen test` after their run, and how they are written: as text or JUnit XML."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TextIO

from msgspec import Struct

from policygen.core.quoting import counted
from policygen.report.junit import write_suite
from policygen.report.text import printable
from policygen.testing.cases import Case
from policygen.testing.expected import CaseDifference, Expected


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
    out.write(f"{counted(len(outcomes), 'case')}, {failed(outcomes)} failed\n")


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
    "junit": junit,
}
"""The name of a format to the function that writes it."""


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
