"""The report as metrics in Prometheus' text format, for node_exporter's textfile collector or a push.

Source of the format: prometheus.io/docs/instrumenting/exposition_formats, version 0.0.4.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TextIO

from policygen.core.finding import Family, Verdict
from policygen.report.report import Report
from policygen.report.text import printable

Labels = tuple[tuple[str, str], ...]


def write(report: Report, out: TextIO) -> None:
    """Write gauges: what was found, how far the verdict goes, and how long it took."""
    families = {each.rule: each.family for each in report.rules}
    found: Counter[Labels] = Counter()
    drifted: Counter[Labels] = Counter({(("cluster", name),): 0 for name in report.compared})
    for finding in report.findings:
        cluster = (("cluster", finding.cluster),)
        found[(*cluster, ("rule", finding.rule), ("severity", str(finding.severity)))] += 1
        if families.get(finding.rule) is Family.DRIFT:
            drifted[cluster] += 1
    ended: dict[Labels, float] = {
        (("verdict", str(verdict)),): report.count(verdict) for verdict in Verdict
    }
    _gauge(out, "findings", "Findings by cluster (empty: files), rule and severity.", found)
    _gauge(out, "drifted", "Differences between the spec and a cluster.", drifted)
    _gauge(out, "rules", "Rules by how they ended.", ended)
    _gauge(out, "waived", "Findings that the spec accepts.", {(): report.waived})
    _gauge(out, "objects", "Objects that were judged.", {(): report.objects})
    _gauge(out, "complete", "1 if all that was asked for could be read.", {(): report.complete})
    if report.began is not None:
        _gauge(out, "run_timestamp_seconds", "When it began.", {(): report.began.timestamp()})
        _gauge(out, "run_duration_seconds", "How long it took.", {(): report.seconds})


def _gauge(out: TextIO, name: str, about: str, values: Mapping[Labels, float]) -> None:
    out.write(f"# HELP policygen_{name} {about}\n# TYPE policygen_{name} gauge\n")
    out.writelines(
        f"policygen_{name}{_labels(labels)} {_number(value)}\n"
        for labels, value in sorted(values.items())
    )


def _labels(labels: Iterable[tuple[str, str]]) -> str:
    pairs = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels)
    return f"{{{pairs}}}" if pairs else ""


def _escaped(value: str) -> str:
    return printable(value).replace("\\", "\\\\").replace('"', '\\"')


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:.3f}"
