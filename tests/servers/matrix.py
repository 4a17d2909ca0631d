"""Runs this folder's tests on each release of Kubernetes that is built here, and counts results.

Each release has a Go module of its own under `go/`. Kueue and Volcano are the same in every row:
the module proxy has no other release of them that is complete and has checksums.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .build import BuildError
from .upstream import KUBERNETES_VARIABLE, Upstream, control_plane

ROOT = Path(__file__).parents[2]
FAILED, SKIPPED, PASSED = WORST_FIRST = ("failed", "skipped", "passed")
NICENESS = "15"
STOP_S = 60.0
"""For a child that was asked to end: pytest ends its servers first."""


@dataclass(frozen=True)
class Row:
    """What pytest counted on one release."""

    version: str
    passed: int
    failed: int
    skipped: int
    seconds: float
    exit_code: int

    @property
    def ok(self) -> bool:
        return self.exit_code == 0


def run(releases: Iterable[Upstream]) -> list[Row]:
    """Build what is missing, then test release after release. Raises BuildError."""
    chosen = list(releases)
    for kubernetes in chosen:
        _build(control_plane(kubernetes.minor))
    return [_test(kubernetes) for kubernetes in chosen]


def table(rows: Sequence[Row]) -> Iterator[str]:
    """One line a release, and one more for a pytest that ended oddly."""
    yield f"{'kubernetes':<12}{'passed':>8}{'failed':>8}{'skipped':>9}{'seconds':>9}"
    for row in rows:
        counts = f"{row.passed:>8}{row.failed:>8}{row.skipped:>9}{row.seconds:>9.0f}"
        yield f"{row.version:<12}{counts}"
    for row in rows:
        if not row.ok and not row.failed:
            yield f"{row.version}: pytest ended with {row.exit_code}"


def _build(upstreams: Iterable[Upstream]) -> None:
    names = [upstream.folder.name for upstream in upstreams]
    command = [sys.executable, "-m", "tests.servers", "build", *names]
    if code := _child(["nice", "-n", NICENESS, *command], stdout=subprocess.DEVNULL):
        raise BuildError(f"matrix: the build ended with {code}")


def _test(kubernetes: Upstream) -> Row:
    version = kubernetes.version.removeprefix("v")
    print(f"kubernetes {version}:", file=sys.stderr, flush=True)
    environment = {
        **os.environ,
        KUBERNETES_VARIABLE: kubernetes.minor,
        "POLICYGEN_CONTROLPLANE": "required",
    }
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="policygen-matrix-") as scratch:
        report = Path(scratch) / "report.xml"
        code = _child([*pytest_to(report), "-n", "auto", str(Path(__file__).parent)], environment)
        seconds = time.monotonic() - began
        passed, failed, skipped = counted(report)
    return Row(version, passed, failed, skipped, seconds, code)


def pytest_to(report: Path) -> list[str]:
    """The command that runs tests and writes a report which `counted` can read."""
    # Only the older family of reports has room for `record_property`.
    family = ["-o", "junit_family=xunit1"]
    return [sys.executable, "-m", "pytest", "-q", *family, f"--junitxml={report}"]


def counted(report: Path) -> tuple[int, int, int]:
    """Passed, failed and skipped in a JUnit report; zeros if pytest did not get so far."""
    worst: dict[tuple[str | None, str | None], str] = {}
    if report.is_file():
        for case in ET.parse(report).getroot().iter("testcase"):
            # A test that fails and whose cleanup also fails is listed twice.
            test = (case.get("classname"), case.get("name"))
            worst[test] = min(_outcome(case), worst.get(test, PASSED), key=WORST_FIRST.index)
    counts = Counter(worst.values())
    return counts[PASSED], counts[FAILED], counts[SKIPPED]


def _outcome(case: ET.Element) -> str:
    marks = {mark.tag for mark in case}
    if marks & {"failure", "error"}:
        return FAILED
    return SKIPPED if "skipped" in marks else PASSED


def _child(
    command: Sequence[str],
    environment: Mapping[str, str] | None = None,
    stdout: int | None = None,
) -> int:
    """Its exit code. When we are asked to end, it is asked too, and has time to clean up."""
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=stdout) as child:
        try:
            return child.wait()
        except BaseException:
            child.send_signal(signal.SIGINT)
            try:
                child.wait(STOP_S)
            except subprocess.TimeoutExpired:
                child.kill()
            raise
