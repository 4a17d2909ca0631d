"""The report as objects of OpenReports: one Report for each namespace, and one ClusterReport.

Source: config/crd of github.com/openreports/reports-api 0.2.1.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, TextIO

from policygen.core.finding import Finding, Verdict
from policygen.core.names import MANAGED_BY, TOOL
from policygen.core.rule import Severity
from policygen.report.phrases import behind, cut, where, write_json
from policygen.report.report import Report, RuleResult
from policygen.report.text import printable

API_VERSION: Final = "openreports.io/v1alpha1"
MAX_RESULTS: Final = 500
"""Results of one object, which etcd stores in at most 1.5 MiB; the summary counts all."""
_SEVERITIES = {Severity.ERROR: "high", Severity.WARNING: "medium", Severity.INFO: "info"}
_RESULTS = {
    Verdict.PASS: "pass",
    Verdict.VACUOUS: "skip",
    Verdict.NOT_EVALUATED: "skip",
    Verdict.CRASHED: "error",
}
_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_KIND = re.compile(r"[A-Za-z]+")


def write(report: Report, out: TextIO) -> None:
    """Write one List as JSON. Findings about objects of a namespace are in the Report of this namespace.

    The ClusterReport has the others, and a result for each rule without findings.
    """
    stamp = _timestamp(report)
    of_cluster: list[Mapping[str, Any]] = [
        _of_rule(it) | stamp for it in report.rules if it.verdict in _RESULTS
    ]
    if report.incomplete:
        of_cluster.append(
            {"policy": "complete", "result": "error", "message": report.incomplete} | stamp
        )
    by_namespace: dict[str, list[Mapping[str, Any]]] = {"": of_cluster}
    for finding in report.findings:
        result = _result(finding, report.fail_on) | stamp
        by_namespace.setdefault(_namespace(finding), []).append(result)
    items = [_object(name, results) for name, results in sorted(by_namespace.items())]
    write_json({"apiVersion": "v1", "kind": "List", "items": items}, out)


def _object(namespace: str, results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The Report of a namespace, or without one the ClusterReport. Findings come first."""
    order = ("error", "fail", "warn", "skip", "pass")
    counts = Counter(str(it["result"]) for it in results)
    # Notes come before the rules without findings.
    ranked = sorted(results, key=lambda it: (order.index(str(it["result"])), "severity" not in it))
    shown = ranked[:MAX_RESULTS]
    made: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": "Report" if namespace else "ClusterReport",
        "metadata": {
            "name": TOOL,
            **({"namespace": namespace} if namespace else {}),
            "labels": {MANAGED_BY: TOOL},
        },
        "source": TOOL,
        "summary": {name: counts[name] for name in order},
        "results": shown,
    }
    if len(shown) < len(results):
        made["configuration"] = {"limits": {"maxResults": MAX_RESULTS}}
    return made


def _result(finding: Finding, fail_on: Severity) -> dict[str, Any]:
    place = behind(finding)
    properties = {
        "cluster": finding.cluster,
        "place": where(place),
        "command": finding.command,
    }
    made: dict[str, Any] = {
        "policy": finding.rule.name,
        "category": finding.rule.family.value,
        "severity": _SEVERITIES[finding.severity],
        "result": _result_of(finding.severity, fail_on),
        "message": _text(finding.message),
    }
    if subject := _subject(finding):
        made["resources"] = [subject]
    if known := {key: _text(value) for key, value in properties.items() if value}:
        made["properties"] = known
    return made


def _result_of(severity: Severity, fail_on: Severity) -> str:
    """A note requires nothing, so it passes: `warn` is for requirements that are not met."""
    if severity >= fail_on:
        return "fail"
    return "pass" if severity == Severity.INFO else "warn"


def _of_rule(result: RuleResult) -> dict[str, Any]:
    """The result of a rule without findings."""
    return {
        "policy": _text(result.rule),
        "category": result.family.value,
        "result": _RESULTS[result.verdict],
        "message": _text(result.reason or result.about),
    }


def _subject(finding: Finding) -> dict[str, str]:
    """The object of a finding as a reference; empty without an object."""
    kind, _, name = finding.object.partition(" ")
    if not _KIND.fullmatch(kind):
        return {}
    namespace, _, own = name.rpartition("/")
    fields = {"kind": kind, "namespace": namespace, "name": own, "fieldPath": finding.path}
    return {key: _text(value) for key, value in fields.items() if value}


def _namespace(finding: Finding) -> str:
    """The namespace whose Report has a finding; empty for the ClusterReport."""
    namespace = _subject(finding).get("namespace", "")
    return namespace if _NAMESPACE.fullmatch(namespace) else ""


def _timestamp(report: Report) -> dict[str, Any]:
    if report.began is None:
        return {}
    return {"timestamp": {"seconds": int(report.began.timestamp()), "nanos": 0}}


def _text(text: str) -> str:
    return printable(cut(text))
