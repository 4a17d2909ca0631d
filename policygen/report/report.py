"""What `policygen lint` has found out: findings, and how far they can be trusted."""

from msgspec import Struct

from policygen.finding import Finding, Severity


class Ended(Struct, frozen=True):
    """How a rule ended."""

    rule: str
    severity: Severity
    family: str
    verdict: str
    """pass, fail, vacuous, not evaluated, crashed."""
    reason: str = ""


class Report(Struct, frozen=True):
    """The answer of one run, in the order in which it is shown."""

    findings: tuple[Finding, ...]
    rules: tuple[Ended, ...] = ()
    objects: int = 0
    """How many objects were judged."""
    complete: bool = True
    """False: something that was asked for could not be read."""

    def count(self, verdict: str) -> int:
        """How many rules ended so."""
        return sum(1 for each in self.rules if each.verdict == verdict)
