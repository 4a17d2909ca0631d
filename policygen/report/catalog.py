"""FORMATS: every format of a report, by name. The help of `-f` and the table in docs/lint.md follow from it."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, TextIO, cast

if TYPE_CHECKING:  # the help of lint needs the names only
    from policygen.report.report import Report

Writer = Callable[["Report", TextIO], None]

FORMATS: Mapping[str, str] = {
    "text": "plain text for people; this is the default",
    "json": "JSON for programs; see its [schema](../schemas/report.schema.json)",
    "sarif": "SARIF 2.1.0, for code scanning",
    "junit": "JUnit XML with a test case for each rule, for CI systems",
    "github": "annotations for GitHub Actions, shown at the lines of a pull request",
    "gitlab": "a Code Quality report, for merge requests in GitLab",
    "markdown": "Markdown for a comment on a pull request",
    "html": "one HTML page without external files",
    "openreports": "a Report for each namespace and a ClusterReport of `openreports.io/v1alpha1`, to apply to a cluster",
    "prometheus": "metrics for the textfile collector of node_exporter",
}
"""What each is for. The format `x` is the module `policygen.report.x` with a function `write`."""
COUNTING = frozenset({"text", "markdown", "html"})
"""Formats that show the number of findings that can be fixed, by `report.text.checked`."""

FIXES = COUNTING | {"json"}
"""Formats that show which findings can be fixed. SARIF shows the changes instead."""


def writer(name: str) -> Writer:
    """The function that writes a format. Imported only now, since each run needs one or two."""
    module = import_module(f"policygen.report.{name}")
    return cast("Writer", module.write)


def listed() -> str:
    """The names as a list in a sentence: `text, json or html`."""
    *names, last = FORMATS
    return f"{', '.join(names)} or {last}"
