"""The report as SARIF 2.1.0, for code scanning.

Source: OASIS sarif-v2.1.0 (schema sarif-2.1.0-errata01).
"""

from typing import Any, TextIO
from urllib.parse import quote

from policygen import __version__
from policygen.core.finding import Finding, Place, Verdict
from policygen.core.fingerprint import fingerprints
from policygen.core.rule import Severity
from policygen.report.phrases import behind, write_json
from policygen.report.report import Repair, Report

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def write(report: Report, out: TextIO) -> None:
    """Write one SARIF log with one run, and a newline."""
    about = {each.rule: each for each in report.rules}
    names = sorted({*about, *(finding.rule.name for finding in report.findings)})
    index = {name: number for number, name in enumerate(names)}
    rules: list[dict[str, Any]] = []
    for name in names:
        rule: dict[str, Any] = {"id": name, "name": name}
        if name in about:
            rule["shortDescription"] = {"text": about[name].about}
            rule["defaultConfiguration"] = {"level": _LEVELS[about[name].severity]}
        if name in report.pages:
            page = report.pages[name]
            rule["fullDescription"] = {"text": _first_paragraph(page)}
            rule["help"] = {"text": page, "markdown": page}
        rules.append(rule)
    prints = fingerprints(report.findings)
    results = []
    for number, (finding, fingerprint) in enumerate(zip(report.findings, prints, strict=True)):
        result: dict[str, Any] = {
            "ruleId": finding.rule.name,
            "ruleIndex": index[finding.rule.name],
            "level": _LEVELS[finding.severity],
            "message": {"text": finding.message},
            "partialFingerprints": {"policygen/v1": fingerprint},
        }
        location = _location(behind(finding), _named(finding), finding.path)
        if location:
            result["locations"] = [location]
        others = [_location(each.place, each.object, "") for each in finding.related]
        if any(others):
            result["relatedLocations"] = [other for other in others if other]
        if number in report.repairs:
            result["fixes"] = [_fix(report.repairs[number])]
        results.append(result)
    run = {
        "tool": {"driver": {"name": "policygen", "version": __version__, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": report.complete,
                "toolExecutionNotifications": [
                    {
                        "level": "error" if result.verdict == Verdict.CRASHED else "note",
                        "message": {"text": f"{result.rule}: {result.verdict}: {result.reason}"},
                    }
                    for result in report.rules
                    if result.verdict in {Verdict.CRASHED, Verdict.NOT_EVALUATED}
                ],
            }
        ],
        "results": results,
    }
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }
    write_json(log, out)


def _first_paragraph(page: str) -> str:
    """The first paragraph after the title."""
    return " ".join(page.split("\n\n", 2)[1].split())


def _fix(repair: Repair) -> dict[str, Any]:
    command = "policygen lint --fix --unsafe" if repair.unsafe else "policygen lint --fix"
    replacements = []
    for part in repair.replacements:
        region = dict(zip(("startLine", "startColumn"), part.start, strict=True))
        region |= dict(zip(("endLine", "endColumn"), part.end, strict=True))
        replacement: dict[str, Any] = {"deletedRegion": region}
        if part.text:
            replacement["insertedContent"] = {"text": part.text}
        replacements.append(replacement)
    change = {"artifactLocation": _artifact(repair.file), "replacements": replacements}
    return {"description": {"text": f"as `{command}` does"}, "artifactChanges": [change]}


def _artifact(file: str) -> dict[str, str]:
    return {"uri": quote(file, errors="replace")}


def _named(finding: Finding) -> str:
    return ": ".join(part for part in (finding.cluster, finding.object) if part)


def _location(place: Place | None, object_: str, path: str) -> dict[str, Any]:
    location: dict[str, Any] = {}
    if place is not None:
        physical: dict[str, Any] = {"artifactLocation": _artifact(place.file)}
        if place.line:
            region: dict[str, Any] = {"startLine": place.line}
            if place.column:
                region["startColumn"] = place.column
                region["endColumn"] = place.column + max(place.length, 1)
            physical["region"] = region
        location["physicalLocation"] = physical
    if object_:
        name = f"{object_}: {path}" if path else object_
        location["logicalLocations"] = [{"fullyQualifiedName": name, "kind": "object"}]
    return location
