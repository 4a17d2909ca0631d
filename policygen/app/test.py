"""What `policygen test` does: lints each case as `policygen lint` would, and compares the findings with its findings.txt."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from policygen.app import explain, inputs, lint
from policygen.app.delivery import writing
from policygen.app.inputs import Run
from policygen.app.requests import LintRequest, Targets
from policygen.core.errors import SpecError, UsageError
from policygen.core.finding import Finding, Place, Verdict
from policygen.core.quoting import counted
from policygen.documents import files
from policygen.documents.locate import ordered
from policygen.documents.rules import NO_SPEC_FILES, UNREADABLE_INPUT
from policygen.lint.run_rules import BAD_CASE, BAD_EXPECTATION, NOTHING_TO_CHECK, UNKNOWN_RULE
from policygen.spec.rules import FOREIGN_DOCUMENTS
from policygen.testing import cases, expected
from policygen.testing.cases import Case
from policygen.testing.expected import Expected, Sheet
from policygen.testing.outcome import CaseOutcome

_NO_SPEC = {FOREIGN_DOCUMENTS, NOTHING_TO_CHECK}


class TestRequest(NamedTuple):
    """The folder of cases, the specs and the target versions of a test."""

    folder: str
    specs: tuple[str, ...]
    """Specs that every case is linted with: the team's Platform."""
    target: Targets
    partial: bool = False


class _Linted(Struct, frozen=True):
    findings: tuple[Finding, ...]
    crashed: tuple[str, ...] = ()


def run(request: TestRequest, *, today: date) -> list[CaseOutcome]:
    """The outcome of every case.

    Raises SpecError with the findings about invalid cases or specs; then there is no outcome.
    """
    found, run_of_specs, faults = _cases(request)
    known = explain.names()
    sheets = []
    for case in found:
        sheet, wrong = _sheet(case, known)
        sheets.append(sheet)
        faults += wrong
    outcomes = []
    for case, sheet in zip(found, sheets, strict=True):
        linted = _linted(case, run_of_specs, today)
        faults += _unreadable(linted)
        now = _actual(case, linted)
        difference = expected.compare((entry.expected for entry in sheet.entries), now)
        outcomes.append(CaseOutcome(case, now, difference, linted.crashed))
    if faults:
        raise SpecError(ordered(faults))
    return outcomes


def update(request: TestRequest, *, today: date) -> str:
    """Write the current findings of each case to its findings.txt. Returns what changed.

    Raises SpecError, and writes nothing, if a case cannot be read or checked.
    """
    found, run_of_specs, faults = _cases(request, new=True)
    known = explain.names()
    written = []
    for case in found:
        sheet = Sheet()
        if case.sheet.exists():
            sheet, wrong = _sheet(case, known)
            # An update removes lines that are not findings.
            faults += [it for it in wrong if it.rule not in {BAD_EXPECTATION, UNKNOWN_RULE}]
        linted = _linted(case, run_of_specs, today)
        faults += _unreadable(linted)
        if linted.crashed:
            raise UsageError(f"{case.folder}: rule {linted.crashed[0]} has a bug; please report it")
        written.append((case, sheet, expected.updated(sheet, _actual(case, linted))))
    if faults:
        raise SpecError(ordered(faults))
    lines: list[str] = []
    changed = 0
    for case, before, after in written:
        text = expected.text(after)
        if not case.sheet.exists() or case.sheet.read_text("utf-8") != text:
            changed += 1
            with writing(case.sheet):
                case.sheet.write_text(text, "utf-8")
        old, new = ([str(entry.expected) for entry in sheet.entries] for sheet in (before, after))
        lines += [f"+ {case.name}: {it}" for it in new if it not in old]
        lines += [f"- {case.name}: {it}" for it in old if it not in new]
    lines.append(f"{counted(len(written), 'case')}, {changed or 'none'} changed")
    return "\n".join(lines) + "\n"


def _cases(request: TestRequest, *, new: bool = False) -> tuple[list[Case], Run, list[Finding]]:
    """The cases, the run on the specs that they share, and what is wrong so far.

    Raises SpecError if the specs that all cases share are refused.
    """
    found = cases.find(request.folder, new=new)
    faults = found.faults
    specs = (*request.specs, *found.specs)
    try:
        run = inputs.prepare(LintRequest(specs, target=request.target, partial=request.partial))
        report = lint.report(run, (), date.min)
    except SpecError as error:
        raise SpecError(ordered([*faults, *error.findings])) from None
    if found.specs and any(it.rule in _NO_SPEC for it in report.findings):
        message = (
            "this folder contains manifests that belong to no case; outside cases only specs are "
            "allowed; move the manifests into a case"
        )
        faults.append(Finding(BAD_CASE, message, Place(request.folder)))
    return found.cases, inputs.with_rendered(run), faults


def _sheet(case: Case, known: Sequence[str]) -> tuple[Sheet, list[Finding]]:
    sources, faults = files.read_path(case.sheet)
    if not sources:
        return Sheet(), faults
    return expected.read(sources[0], known)


def _linted(case: Case, run: Run, today: date) -> _Linted:
    """The findings of lint on a case: all of a refused spec, otherwise those in files of the case.

    Findings in the shared specs are the same for every case, so they are omitted.
    """
    sources, unreadable = files.read([case.folder])
    try:
        run = inputs.with_manifests(run, (case.folder,), sources, unreadable)
        report = lint.report(run, (), today)
    except SpecError as error:
        return _Linted(error.findings)
    crashed = tuple(it.rule for it in report.rules if it.verdict == Verdict.CRASHED)
    inside = f"{case.folder.rstrip('/')}/"
    return _Linted(
        tuple(
            finding
            for finding in report.findings
            if finding.place is None or Path(finding.place.file).is_relative_to(inside)
        ),
        crashed,
    )


def _unreadable(linted: _Linted) -> list[Finding]:
    """Findings about files that are missing or cannot be opened; a case cannot expect them."""
    return [it for it in linted.findings if it.rule in {UNREADABLE_INPUT, NO_SPEC_FILES}]


def _actual(case: Case, linted: _Linted) -> tuple[Expected, ...]:
    return tuple(sorted(expected.expectation(it, case.folder) for it in linted.findings))
