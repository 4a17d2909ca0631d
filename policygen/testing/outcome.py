"""A case of `policygen test` after its run."""

from collections.abc import Sequence

from msgspec import Struct

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
