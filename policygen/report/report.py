"""The result of `policygen lint`: findings, and which rules ran."""

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

from policygen.core.finding import Finding, Verdict
from policygen.core.rule import Family, Severity
from policygen.documents.document import Document
from policygen.kubernetes.snapshot import Gap

if TYPE_CHECKING:  # only runs that read a cluster or a spec load this code
    from policygen.drift.drift import Drift
    from policygen.plan.assignment import ModelPlacement

UNREAD: Final = "some input could not be read"
"""The usual value of Report.incomplete."""


class RuleResult(Struct, frozen=True):
    """The result of a rule."""

    rule: str
    severity: Severity
    family: Family
    verdict: Verdict
    about: str
    """Summary of the rule, in one sentence."""
    reason: str = ""
    lacks: tuple[str, ...] = ()
    """The input that it needs and that was not given."""
    partial: bool = False
    """Whether the reason is an invalid field or the size of the input; some findings may be missing."""
    too_large: bool = False
    """Whether the reason is the size of the input, which a finding reports."""
    whole: bool = True
    """False if it was not evaluated for some input, or not for all objects that it checks."""


class Replacement(Struct, frozen=True):
    """A text that replaces the part of a file between two places; lines and columns count from 1."""

    start: tuple[int, int]
    """Line and column of the first character that is replaced."""
    end: tuple[int, int]
    """Line and column of the first character after it."""
    text: str


class Repair(Struct, frozen=True):
    """The changes that `lint --fix` makes in one file for one finding."""

    file: str
    unsafe: bool
    """Whether it needs --unsafe."""
    replacements: tuple[Replacement, ...]


class Report(Struct, frozen=True):
    """The result of one run; findings are in the order in which they are shown."""

    findings: tuple[Finding, ...]
    rules: tuple[RuleResult, ...] = ()
    objects: int = 0
    """Number of objects that were checked."""
    incomplete: str = ""
    """Why not all input was checked; empty if all of it was."""
    off: int = 0
    """Number of findings of rules that the spec switches off."""
    waived: int = 0
    """Number of findings that waivers accept."""
    in_baseline: int = 0
    """Number of findings that the baseline contains."""
    compared: tuple[str, ...] = ()
    """Names of the clusters that were compared with everything that the spec renders."""
    began: datetime | None = None
    """When the run began; None if unknown."""
    seconds: float = 0.0
    """Duration of the run."""
    documents: tuple[Document, ...] = ()
    """The documents of the manifests, to which the edits of findings refer."""
    fail_on: Severity = Severity.ERROR
    """The lowest severity of findings that make the run fail."""
    fixes: Mapping[int, str] = field(default_factory=dict)
    """The kind of fix, `safe` or `unsafe`, of each finding that `lint --fix` can fix, by its number."""
    repairs: Mapping[int, Repair] = field(default_factory=dict)
    """The fixes of findings, by the number of the finding; only for SARIF."""
    pages: Mapping[str, str] = field(default_factory=dict)
    """The pages of rules in Markdown, by the name of the rule; only for SARIF."""
    elsewhere: int = 0
    """Number of findings that other files, a spec or --partial could remove; 0 if a folder was given."""
    drifts: "tuple[Drift, ...]" = ()
    """The differences of each cluster from the spec, also those that are waived."""
    models: "tuple[ModelPlacement, ...]" = ()
    """Where each model of the spec runs, and why."""
    gaps: tuple[Gap, ...] = ()
    """Kinds of clusters that rules need and that could not be read."""
    kept: tuple[object, ...] = ()
    """What the rules read. No format shows it: to free it takes 2 % of the time of a large lint."""

    @property
    def fixable(self) -> int:
        """Number of findings that `lint --fix` can fix."""
        return sum(kind == "safe" for kind in self.fixes.values())

    @property
    def fixable_unsafe(self) -> int:
        """Number of additional findings that it can fix with --unsafe."""
        return len(self.fixes) - self.fixable

    @property
    def complete(self) -> bool:
        """Whether all input was checked."""
        return not self.incomplete

    def count(self, verdict: Verdict) -> int:
        """The number of rules with a verdict."""
        return sum(1 for each in self.rules if each.verdict == verdict)

    def of(self, severity: Severity) -> int:
        """The number of findings with a severity."""
        return sum(1 for finding in self.findings if finding.severity == severity)
