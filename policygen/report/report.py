"""The result of `policygen lint`: findings, and which rules ran."""

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import Struct, field

from policygen.core.finding import Finding, Verdict
from policygen.core.rule import Family, Severity
from policygen.documents.document import Document
from policygen.kubernetes.snapshot import Gap

if TYPE_CHECKING:  # only runs that read a cluster load the code for drift
    from policygen.drift.drift import Drift


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
    whole: bool = True
    """False if it was not evaluated for some input, or not for all objects that it checks."""
    unsafe: bool = False
    """Whether its fix changes how servers or controllers behave."""


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
    """The answer of one run, in the order in which it is shown."""

    findings: tuple[Finding, ...]
    rules: tuple[RuleResult, ...] = ()
    objects: int = 0
    """Number of objects that were checked."""
    complete: bool = True
    """False if some input could not be read."""
    off: int = 0
    """How many findings are of rules that the spec switches off."""
    waived: int = 0
    """How many findings the spec's waivers accept."""
    in_baseline: int = 0
    """How many findings were there before."""
    compared: tuple[str, ...] = ()
    """The clusters that were held against a spec in all that it renders, by the names under which they were
    reached."""
    began: datetime | None = None
    """When the run began; None: nobody looked."""
    seconds: float = 0.0
    """How long it took."""
    documents: tuple[Document, ...] = ()
    """What of the manifests was judged: the findings' edits are about these."""
    repairs: Mapping[int, Repair] = field(default_factory=dict)
    """What mends a finding, by its number; only where somebody has asked for it."""
    pages: Mapping[str, str] = field(default_factory=dict)
    """What explains a finding, as Markdown, by its rule; only where somebody has asked for it."""
    drifts: "tuple[Drift, ...]" = ()
    """Of each cluster that was held against a spec; findings say what of it counts."""

    gaps: tuple[Gap, ...] = ()
    """What of clusters rules needed and could not be read."""

    def count(self, verdict: Verdict) -> int:
        """How many rules ended so."""
        return sum(1 for each in self.rules if each.verdict == verdict)

    def of(self, severity: Severity) -> int:
        """How many findings have a severity."""
        return sum(1 for finding in self.findings if finding.severity == severity)
