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
    about: str
    """What the rule is about, in a sentence."""
    reason: str = ""


class Report(Struct, frozen=True):
    """The answer of one run, in the order in which it is shown."""

    findings: tuple[Finding, ...]
    rules: tuple[Ended, ...] = ()
    objects: int = 0
    """How many objects were judged."""
    complete: bool = True
    """False: something that was asked for could not be read."""
    waived: int = 0
    """How many findings the spec's waivers accept."""
    in_baseline: int = 0
    """How many findings were there before."""

    def count(self, verdict: str) -> int:
        """How many rules ended so."""
        return sum(1 for each in self.rules if each.verdict == verdict)

    def of(self, severity: Severity) -> int:
        """How many findings have a severity."""
        return sum(1 for finding in self.findings if finding.severity == severity)
