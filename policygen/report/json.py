"""The report as JSON, for programs: versioned, described by schemas/report.schema.json."""

from typing import TYPE_CHECKING, Any, TextIO

from policygen.core.finding import Place
from policygen.core.fingerprint import fingerprints
from policygen.core.rule import Severity
from policygen.report.phrases import write_json
from policygen.report.report import Report

if TYPE_CHECKING:  # only runs with a spec load the plan
    from policygen.plan.assignment import ModelPlacement

VERSION = 1
"""Increased when a field changes its meaning or is removed, not for a new field."""


def write(report: Report, out: TextIO) -> None:
    """Write one JSON object and a newline."""
    write_json(data(report), out)


def data(report: Report) -> dict[str, Any]:
    """The report as schemas/report.schema.json describes it."""
    prints = fingerprints(report.findings)
    return {
        "version": VERSION,
        "complete": report.complete,
        "incomplete": report.incomplete or None,
        "objects": report.objects,
        "off": report.off,
        "waived": report.waived,
        "inBaseline": report.in_baseline,
        "summary": {str(severity): report.of(severity) for severity in reversed(Severity)},
        "findings": [
            {
                "rule": finding.rule.name,
                "severity": str(finding.severity),
                "message": finding.message,
                "cluster": finding.cluster or None,
                "object": finding.object or None,
                "path": finding.path or None,
                "place": _place(finding.place),
                "related": [
                    {"object": related.object or None, "place": _place(related.place)}
                    for related in finding.related
                ],
                "command": finding.command or None,
                "fix": report.fixes.get(number),
                "fingerprint": fingerprint,
            }
            for number, (finding, fingerprint) in enumerate(
                zip(report.findings, prints, strict=True)
            )
        ],
        "rules": [
            {
                "rule": result.rule,
                "severity": str(result.severity),
                "family": result.family.value,
                "verdict": result.verdict.value,
                "reason": result.reason or None,
            }
            for result in report.rules
        ],
        "models": [_model(placement) for placement in report.models],
    }


def _place(place: Place | None) -> dict[str, Any] | None:
    if place is None:
        return None
    return {
        "file": place.file,
        "line": place.line or None,
        "column": place.column or None,
        "length": place.length or None,
    }


def _model(placement: "ModelPlacement") -> dict[str, Any]:
    """Where a model runs, why, where else it could, and why not on other pools."""
    chosen = placement.chosen
    pieces = chosen.replicas if chosen else None
    each = pieces.piece[chosen.size.resource] if chosen and pieces else 0
    return {
        "model": placement.model.name,
        "team": placement.model.team,
        "pools": [facts.name for facts in chosen.pools] if chosen else [],
        "scheduler": chosen.facts.scheduler if chosen else None,
        "reason": placement.criterion.value if placement.criterion else None,
        "resource": chosen.size.resource if chosen else None,
        "unitsPerPod": chosen.size.units if chosen else None,
        "minUnits": pieces.least * each if pieces else None,
        "maxUnits": pieces.most * each if pieces else None,
        "alternatives": [[facts.name for facts in it.pools] for it in placement.options[1:]],
        "rejected": [
            {"pool": it.pool, "obstacle": it.obstacle.value, "message": it.reason}
            for it in placement.rejected
        ],
    }
