"""The report as one HTML page without external files: no script, no font, no picture."""

from typing import TextIO

from policygen.core.finding import Finding
from policygen.core.quoting import counted
from policygen.core.rule import Severity
from policygen.report.phrases import MAX_MESSAGE, MAX_OF_A_RULE, bounded, cut, where
from policygen.report.report import Report
from policygen.report.text import checked, printable, summary

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --error: #c22; --warning: #b70; --info: #27c }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2rem }
article { border-left: 4px solid var(--hue); margin: 1rem 0; padding: .1rem 0 .1rem 1rem }
.error { --hue: var(--error) } .warning { --hue: var(--warning) } .info { --hue: var(--info) }
p { margin: .2rem 0 } code, pre { font: 13px/1.5 ui-monospace, monospace }
pre { overflow-x: auto; margin: .4rem 0 } mark { background: none; border-bottom: 2px solid var(--hue); color: inherit }
.where, .rule { opacity: .75 } table { border-collapse: collapse; width: 100% }
td, th { border-bottom: 1px solid var(--line); padding: .25rem .5rem; text-align: left; vertical-align: top }
"""


def write(report: Report, out: TextIO) -> None:
    """Write the page."""
    title = f"policygen: {summary(report.findings)}"
    shown, more = bounded(report.findings)
    out.write(
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_shown(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{_shown(title)}</h1>\n<p>{_shown(checked(report))}</p>\n"
    )
    for severity in sorted(Severity, reverse=True):
        findings = [each for each in shown if each.severity == severity]
        if findings:
            out.write(f"<h2>{severity.name.title()}: {report.of(severity)}</h2>\n")
            out.writelines(_article(each) for each in findings)
    out.writelines(
        f"<p>{counted(count, 'more finding')} of <code>{_shown(rule)}</code>; -f json lists all of them</p>\n"
        for rule, count in more.items()
    )
    out.write("<h2>Rules</h2>\n<table>\n<tr><th>Rule<th>Verdict<th>About\n")
    for result in report.rules:
        verdict = f"{result.verdict}: {result.reason}" if result.reason else result.verdict
        out.write(
            f"<tr><td><code>{_shown(result.rule)}</code><td>{_shown(verdict)}"
            f"<td>{_shown(result.about)}\n"
        )
    out.write("</table>\n</body>\n</html>\n")


def _article(finding: Finding) -> str:
    place = finding.place
    parts = [f'<article class="{finding.severity}">\n<p>{_shown(cut(finding.message))}</p>\n']
    parts_of_place = (finding.cluster, where(place), finding.object, finding.path)
    at = " · ".join(part for part in parts_of_place if part)
    rule = f'<span class="rule">{_shown(finding.rule.name)}</span>'
    parts.append(f'<p class="where"><code>{_shown(cut(at))}</code> {rule}</p>\n')
    if place is not None and place.text.strip():
        begin = max(place.column - 1, 0)
        end = begin + place.length
        first, last = max(0, begin - MAX_MESSAGE), end + MAX_MESSAGE
        before, marked = place.text[first:begin], cut(place.text[begin:end])
        after = place.text[end:last]
        excerpt = f"{_shown(before)}<mark>{_shown(marked)}</mark>{_shown(after)}"
        parts.append(f"<pre>{place.line:5} | {excerpt}</pre>\n")
    parts += [
        f"<p>see also {_shown(cut(related.object))} <code>{_shown(cut(where(related.place)))}</code></p>\n"
        for related in finding.related[:MAX_OF_A_RULE]
    ]
    return "".join([*parts, "</article>\n"])


def _shown(text: str) -> str:
    from html import escape  # noqa: PLC0415 - it loads the names of 2,000 characters

    return escape(printable(text.replace("\t", "    ")))
