"""The file of `--baseline`: compares its findings with the current findings."""

from collections.abc import Collection
from pathlib import Path

from msgspec.structs import replace

from policygen.app.delivery import writing
from policygen.core import atomic
from policygen.core.errors import UsageError
from policygen.core.finding import Finding
from policygen.core.quoting import counted
from policygen.documents.locate import ordered
from policygen.lint import baseline
from policygen.lint.baseline import Baseline
from policygen.lint.run_rules import BASELINE_STALE
from policygen.report.report import Report


def read(path: Path) -> Baseline:
    """The baseline in a file. Raises UsageError."""
    try:
        return baseline.read(path.read_bytes())
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror}; create the file with `policygen baseline "
            "update`"
        ) from None
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from None


def compared(report: Report, path: Path, known: Baseline, evaluated: Collection[str]) -> Report:
    """A report with the new findings, and a finding for each entry of the baseline that is gone."""
    found = baseline.compare(report.findings, known, evaluated)
    stale = [
        Finding(
            BASELINE_STALE,
            f"baseline {path} contains {entry.rule} for {entry.object or entry.message}, but lint "
            "no longer reports this finding; run `policygen baseline update`",
        )
        for entry in found.gone
    ]
    findings = tuple(ordered([*found.new, *stale]))
    return replace(report, findings=findings, in_baseline=found.known)


def write(path: Path, before: Baseline | None, report: Report) -> str:
    """Replace a baseline, if there is one, by the findings of a report. Returns what changed in it.

    Raises UsageError, also if some input could not be checked.
    """
    if report.incomplete:
        raise UsageError(
            f"{report.incomplete}, so the baseline would lose findings that are not fixed; correct the "
            "input, then run the command again"
        )
    after = baseline.create(report.findings)
    with writing(path):
        atomic.write(path, baseline.text(after).encode())
    known = before.findings if before else ()
    old, new = ({it.fingerprint: it for it in findings} for findings in (known, after.findings))
    added = [it for print_, it in new.items() if print_ not in old]
    removed = [it for print_, it in old.items() if print_ not in new]
    lines = [f"+ {it.rule}: {it.object or it.message}" for it in added]
    lines += [f"- {it.rule}: {it.object or it.message}" for it in removed]
    lines.append(
        f"{path}: {counted(len(new), 'finding')}, {len(added)} added, {len(removed)} removed"
    )
    return "\n".join(lines) + "\n"
