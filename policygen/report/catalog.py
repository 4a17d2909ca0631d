"""FORMATS: every format of a report, by name."""

from collections.abc import Callable, Mapping
from typing import TextIO

from policygen.report import github, gitlab, html, json, junit, markdown, prometheus, sarif, text
from policygen.report.report import Report

FORMATS: Mapping[str, Callable[[Report, TextIO], None]] = {
    "text": text.plain,
    "json": json.write,
    "sarif": sarif.write,
    "junit": junit.write,
    "github": github.write,
    "gitlab": gitlab.write,
    "markdown": markdown.write,
    "html": html.write,
    "prometheus": prometheus.write,
}
"""The name of a format to the function that writes it."""
