"""What `policygen lint` has found out: findings, and how far they can be trusted."""

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import Struct, field

from policygen.core.finding import Finding, Verdict
from policygen.core.rule import Family, Severity
from policygen.documents.document import Document
from policygen.kubernetes.snapshot import Gap

if TYPE_CHECKING:  # what compares clusters with a spec is imported where one is seen
    from policygen.drift.drift import Drift


class Ended(Struct, frozen=True):
    """How a rule ended."""

    rule: str
    severity: Severity
    family: Family
    verdict: Verdict
    about: str
    """What the rule is about, in a sentence."""
    reason: str = ""
    whole: bool = True
    """False: of some input it was not evaluated, or not on all that it is about."""
    unsafe: bool = False
    """Whether its fix makes servers or controllers behave otherwise than before."""


class Replacement(Struct, frozen=True):
    """What stands between two places of a file gives way to a text; both count from 1."""

    start: tuple[int, int]
    """Line and column of the first character that goes."""
    end: tuple[int, int]
    """Those of the first that stays."""
    text: str


class Repair(Struct, frozen=True):
    """What `lint --fix` does about one finding, in one file."""

    file: str
    unsafe: bool
    """Whether it takes --unsafe."""
    replacements: tuple[Replacement, ...]


class Report(Struct, frozen=True):
    """The answer of one run, in the order in which it is shown."""

    findings: tuple[Finding, ...]
    rules: tuple[Ended, ...] = ()
    objects: int = 0
    """How many objects were judged."""
    complete: bool = True
    """False: something that was asked for could not be read."""
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
