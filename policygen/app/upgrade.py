"""What `policygen upgrade` does: rewrites manifests for the API versions of other releases."""

from datetime import date
from typing import BinaryIO

from msgspec import Struct

from policygen.app import fix
from policygen.app.requests import LintRequest, Targets
from policygen.core.finding import Finding, Verdict
from policygen.core.quoting import counted
from policygen.core.rule import Severity
from policygen.documents.edit.overwrite import overwrite
from policygen.lint.core.rules import api_version_not_served
from policygen.lint.kueue.rules import kueue_configuration_outdated, kueue_version_outdated
from policygen.lint.scheduler.rules import scheduler_configuration_version_gone
from policygen.report import text
from policygen.report.report import Report
from policygen.spec.rules import UNKNOWN_FIELD

RULES = (
    api_version_not_served.RULE,
    kueue_configuration_outdated.RULE,
    kueue_version_outdated.RULE,
    scheduler_configuration_version_gone.RULE,
    UNKNOWN_FIELD,
)
"""The rules about versions, and about the fields that remain of an older version."""


class Upgrade(Struct, frozen=True):
    """The upgraded manifests."""

    fixed: fix.Fixed
    by_hand: tuple[Finding, ...]
    """What a person must change."""

    @property
    def complete(self) -> bool:
        """Whether all input could be read, and all rules could check it."""
        after = self.fixed.after
        return after.complete and not after.count(Verdict.NOT_EVALUATED)


def upgrade(
    manifests: tuple[str, ...], target: Targets, *, today: date, stdin: BinaryIO | None = None
) -> Upgrade:
    """Rewrite manifests for the releases in `target`, in memory; comments and layout stay.

    Raises the errors of `lint.lint`.
    """
    request = LintRequest(
        manifests=manifests,
        target=target,
        partial=True,
        only=tuple(rule.name for rule in RULES),
    )
    fixed = fix.fix(request, today=today, unsafe=True, stdin=stdin)
    names = {rule.name for rule in RULES}
    by_hand = [
        it
        for it in fixed.after.findings
        if it.rule.name in names or it.severity >= Severity.ERROR  # no notes about other files
    ]
    return Upgrade(fixed, tuple(by_hand))


def report(upgraded: Upgrade) -> Report:
    """What a person must change, as a report of lint."""
    after = upgraded.fixed.after
    return Report(upgraded.by_hand, after.rules, after.objects, after.incomplete)


def write(upgraded: Upgrade) -> None:
    """Change the files. Raises UsageError if one must not be changed; then no file is changed."""
    overwrite(upgraded.fixed.texts)


def summary(upgraded: Upgrade, *, done: bool) -> list[str]:
    """What was not upgraded and why, and the numbers of files and changes, as lines.

    `done`: the upgraded texts were written or printed, and not only shown as a diff.
    """
    fixed, by_hand = upgraded.fixed, upgraded.by_hand
    lines = [f"policygen: {line}" for line in fix.unfixed(fixed)]
    files = counted(len(fixed.texts), "file")
    total = "nothing to upgrade"
    if fixed.texts:
        total = f"upgraded {files}" if done else f"{files} would change"
    if not upgraded.complete:
        in_files = fixed.texts and all(source.path for source, _ in fixed.texts)
        lines += [f"policygen: {total}"] if in_files else []
        return [*lines, *text.unevaluated(fixed.after)]
    if by_hand:
        total += f"; {counted(len(by_hand), 'change')} to make by hand"
    return [*lines, f"policygen: {total}"]
