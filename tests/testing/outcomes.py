"""Outcomes of cases, for tests."""

from policygen.core.rule import Severity
from policygen.testing.cases import Case
from policygen.testing.expected import CaseDifference, Expected
from policygen.testing.outcome import CaseOutcome

ONE = Expected("q.yaml", 4, Severity.ERROR, "rule-a", "LocalQueue b/a")
OTHER = Expected("q.yaml", 9, Severity.ERROR, "rule-a", "LocalQueue b/a")

GOOD = CaseOutcome(Case("good", "cases/good"), (ONE,), CaseDifference())
BAD = CaseOutcome(
    Case("bad\x1b", "cases/bad"),
    (ONE, OTHER),
    CaseDifference((ONE,), (OTHER,), ((ONE, OTHER),)),
)
CRASHED = CaseOutcome(Case("crashed", "cases/c"), (), CaseDifference(), ("rule-b",))
