"""The findings in the upstream projects' own examples are those in the docs, with a reason each."""

import os
import re
import subprocess
from datetime import date
from pathlib import Path

import pytest

from policygen.app import lint
from policygen.app.requests import LintRequest
from tests.servers.upstream import KUEUE, VOLCANO

ROOT = Path(__file__).parents[2]
TODAY = date(2026, 11, 21)
ROW = re.compile(r"^\| `(\S+):(\d+)` \| `([a-z-]+)` \| (.+) \|$", re.MULTILINE)
SECTION = re.compile(r"^## (.+)\n", re.MULTILINE)
CLONE = "POLICYGEN_KUEUE_CLONE"
NOTES = {"kinds-without-special-rules", "no-object"}
"""Notes about kinds that are not checked, and about files without objects."""

KUEUE_EXAMPLES = (
    "cmd/kueueviz/examples/*.yaml",
    "config/components/manager/controller_manager_config.yaml",
)
VOLCANO_EXAMPLES = ("example/**/*.yaml",)
VOLCANO_CONFIGURATIONS = (
    "installer/*.yaml",
    "installer/helm/chart/volcano/config/volcano-scheduler*.conf",
    "installer/helm/chart/volcano/config/agent-scheduler.conf",
    "benchmark/sh/custom_scheduler_config.yaml",
)


def sections():
    """The sections of the page by their titles."""
    parts = SECTION.split((ROOT / "docs" / "upstream-findings.md").read_text("utf-8"))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def documented(title):
    """Place and rule of each row of a section."""
    text = sections()[title]
    rows = ROW.findall(text)
    assert len(rows) == text.count("\n| `"), "a row is not read"
    return sorted((file, int(line), rule) for file, line, rule, _ in rows)


def found(folder, *patterns):
    """Position and rule of all findings, with each file alone, and the number of files."""
    files = sorted(path for pattern in patterns for path in folder.glob(pattern))
    hits = []
    for file in files:
        report = lint.lint(LintRequest(manifests=(str(file),), partial=True), today=TODAY)
        assert report.count("crashed") == 0, file
        name = file.relative_to(folder).as_posix()
        hits += [
            (name, it.place.line, it.rule.name)
            for it in report.findings
            if it.rule.name not in NOTES
        ]
    return sorted(hits), len(files)


def source(upstream):
    """An upstream's module in Go's cache; skips the test without it."""
    command = ["go", "list", "-m", "-f", "{{.Dir}}", upstream.module]
    offline = {**os.environ, "GOPROXY": "off"}
    try:
        done = subprocess.run(
            command, cwd=upstream.folder, env=offline, capture_output=True, text=True, check=False
        )
        folder = done.stdout.strip()
    except FileNotFoundError:
        folder = ""
    if not folder:
        said = f"no sources of {upstream.name} {upstream.version} in Go's module cache"
        if os.environ.get("POLICYGEN_CONTROLPLANE") == "required":
            pytest.fail(said, pytrace=False)
        pytest.skip(said)
    return Path(folder)


def titled(start):
    """The only section whose title begins with this text; it must name this version."""
    (title,) = [title for title in sections() if title.startswith(start)]
    return title


@pytest.mark.parametrize(
    "upstream, start, patterns, count",
    [
        (KUEUE, "Kueue {}: `cmd", KUEUE_EXAMPLES, 9),
        (VOLCANO, "Volcano {}: `example`", VOLCANO_EXAMPLES, 38),
        (VOLCANO, "Volcano {}: installer", VOLCANO_CONFIGURATIONS, 11),
    ],
    ids=["kueue", "volcano", "volcano-configurations"],
)
def test_findings_are_those_of_the_page(upstream, start, patterns, count):
    title = titled(start.format(upstream.version.removeprefix("v")))
    assert found(source(upstream), *patterns) == (documented(title), count)


def test_findings_of_kueues_site_are_those_of_the_page():
    title = titled(f"Kueue {KUEUE.version.removeprefix('v')}: the site")
    if CLONE not in os.environ:
        pytest.skip(f"no clone of Kueue {KUEUE.version} in {CLONE}")
    folder = Path(os.environ[CLONE])
    assert found(folder, "site/static/examples/**/*.yaml") == (documented(title), 77)


def test_every_section_is_tested():
    assert len(sections()) == 4
