"""A report with a finding of each severity, and hostile text."""

import io

from policygen.core.finding import Finding, Place, Related, Verdict
from policygen.core.rule import Family, Severity
from policygen.report.catalog import writer
from policygen.report.report import UNREAD, Report, RuleResult
from tests.rules import rule

NASTY = (
    "a\x1b[31m\x00\x07<script>alert(1)</script>&amp;]]>\n::error::b%0A,c:d|e`f`*g*[h](i)\r\t"
    "\ud800\u202e\U0001f600'\"<!-- @someone #1 --> www.example.com $x$"
)


def ended(rule, verdict, reason=""):
    return RuleResult(
        rule, Severity.ERROR, Family.INVALID, Verdict(verdict), f"About {rule}", reason
    )


def report(text="queue a"):
    place = Place(f"{text}.yaml", 3, 5, 4, f"    {text} and more")
    return Report(
        findings=(
            Finding(rule("note", Severity.INFO), f"no place: {text}"),
            Finding(
                rule("first-rule", Severity.ERROR),
                f"wrong: {text}",
                place,
                object=f"LocalQueue {text}",
                path=f"spec.{text}",
                anchor=f"spec.{text}",
                related=(Related(f"ClusterQueue {text}", place), Related("Cohort b")),
            ),
            Finding(rule("first-rule", Severity.WARNING), "file", Place("b.yaml")),
        ),
        rules=(
            ended("first-rule", "fail"),
            ended("second-rule", "pass"),
            ended("third-rule", "vacuous", "no Cohort"),
            ended("fourth-rule", "not evaluated", f"Nodes not given {text}"),
            ended("fifth-rule", "crashed", f"Traceback {text}"),
        ),
        objects=7,
        incomplete=UNREAD,
    )


def written(name, it=None):
    out = io.StringIO()
    writer(name)(it or report(), out)
    return out.getvalue()
