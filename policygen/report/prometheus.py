"""The report as metrics in the text format of Prometheus.

They are for the textfile collector of node_exporter, or for a push.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, TextIO

from policygen.core.finding import Verdict
from policygen.core.rule import Family
from policygen.report.report import Report
from policygen.report.text import printable

Values = Mapping[tuple[str, ...], float]
"""A metric's value for each combination of label values."""


def write(report: Report, out: TextIO) -> None:
    """Write gauges: findings by rule, drift by cluster, results of rules, and time of the run."""
    from prometheus_client import generate_latest  # noqa: PLC0415 - only this format needs it
    from prometheus_client.metrics_core import GaugeMetricFamily  # noqa: PLC0415 - likewise

    gauges = []

    def gauge(name: str, about: str, values: Values, labels: Sequence[str] = ()) -> None:
        family = GaugeMetricFamily(f"policygen_{name}", about, labels=labels)
        for key, value in sorted(values.items()):
            family.add_metric([printable(each) for each in key], value)
        gauges.append(family)

    found: Counter[tuple[str, ...]] = Counter()
    drifted: Counter[tuple[str, ...]] = Counter({(name,): 0 for name in report.compared})
    for finding in report.findings:
        found[finding.cluster, finding.rule.name, str(finding.severity)] += 1
        if finding.rule.family is Family.DRIFT:
            drifted[finding.cluster,] += 1
    ended: Values = {(str(verdict),): report.count(verdict) for verdict in Verdict}
    about = "Number of findings by cluster (empty for files), rule and severity."
    gauge("findings", about, found, ["cluster", "rule", "severity"])
    gauge("drifted", "Number of differences between the spec and a cluster.", drifted, ["cluster"])
    gauge("rules", "Number of rules per verdict, for example pass or fail.", ended, ["verdict"])
    gauge("waived", "Number of findings that the spec waives.", {(): report.waived})
    gauge("objects", "Number of objects that were checked.", {(): report.objects})
    gauge("complete", "1 if all input could be read, otherwise 0.", {(): report.complete})
    if report.began is not None:
        gauge(
            "run_timestamp_seconds",
            "Start time of the run, in seconds since 1970-01-01 UTC.",
            {(): report.began.timestamp()},
        )
        gauge("run_duration_seconds", "Duration of the run in seconds.", {(): report.seconds})
    # Without a registry, since environment variables can switch a registry to multiprocess mode.
    collector: Any = SimpleNamespace(collect=lambda: gauges)
    out.write(generate_latest(collector).decode())
