"""Fixtures of all tests: specs from text, and the option that rewrites golden files."""

import io
import os
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import settings

from policygen.cli import main
from policygen.core.finding import Finding
from policygen.core.rule import Severity
from policygen.documents.files import Source
from policygen.documents.locate import locate, ordered
from policygen.plan.compile import Plan, compile_plan
from policygen.spec.load import Loaded, load
from tests.cli.commands import SPEC

# A background job of a shell ignores Ctrl-C, and so would every process that a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).parent.parent
BENCH = "tests/servers/"
LONG = (
    "tests/lint/test_unknown_fields.py", "tests/properties/", "tests/test_house.py",
)  # fmt: skip
"""Tests without servers that take longest."""
LONG_OF_BENCH = tuple(
    f"{BENCH}test_{name}.py"
    for name in (
        "agreement", "accepted", "live", "why", "facts", "bad_weather", "drift", "refusals",
        "kueue_behaviour", "kueue_jobs", "kueue_order", "kueue_scheduler", "volcano_behaviour", "workloads",
        "admission",
    )
)  # fmt: skip
OWN_SCOPE = ("tests/test_house.py", "tests/properties/")
"""Each test of these alone takes as long as other files."""
POLITE = 5
"""The niceness of the worker that fills the gaps."""

# CI checks one change, so it draws the same examples in every run. At a desk each run draws other
# examples. Machines are slow now and then, so an example has no deadline.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("desk", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "desk")

POOL = """
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata:
  name: {name}
spec:
  nodeSelector:
    pool: {name}
  gpu:
    perNode: 8
    memory: 80Gi
  capacity:
    totalGPUs: {gpus}
    nodeAllocatable:
      cpu: "{cpu}"
      memory: {memory}
  scheduler: {scheduler}
"""

ARTICLE_POOL = """
apiVersion: gpu.example.com/v1
kind: ResourcePool
metadata: {name: p}
spec: {nodeSelector: {gpu.type: a100}, capacity: {totalGPUs: 16}}
"""


@dataclass(frozen=True)
class Planned:
    """A parsed spec and its plan."""

    loaded: Loaded
    plan: Plan | None
    findings: tuple[Finding, ...]

    def of(self, kind: str) -> dict[str, object]:
        """The decided objects of a kind by name, with the namespace before it where it has one."""
        assert self.plan is not None, self.rules
        return {
            (f"{item.meta.namespace}/" if item.meta.namespace else "") + item.meta.name: item.fields
            for item in self.plan.items
            if item.kind.name == kind
        }

    @property
    def rules(self) -> list[str]:
        """The rules of all findings, in order."""
        return [finding.rule.name for finding in self.findings]


def plan_of(*texts: str, extras: frozenset[str] = frozenset()) -> Planned:
    text = "---\n".join(dedent(text).lstrip("\n") for text in texts)
    return plan_of_files({"spec.yaml": text}, extras)


def plan_of_files(files: dict[str, str], extras: frozenset[str] = frozenset()) -> Planned:
    """Parses and plans a spec as `app` does; of a refused spec, the valid part is checked as well."""
    loaded = load([Source(name, text, None) for name, text in files.items()])
    plan = compile_plan(loaded.sound, extras)
    hits = [hit for hit in plan.hits if hit.rule.severity == Severity.ERROR or not loaded.refused]
    findings = ordered((*loaded.findings, *locate(loaded.documents, hits)))
    refused = loaded.refused or plan.refused
    return Planned(loaded, None if refused else plan, tuple(findings))


def pool_text(name="p", gpus=64, scheduler="kueue", cpu="96", memory="768Gi", more=""):
    text = POOL.format(name=name, gpus=gpus, scheduler=scheduler, cpu=cpu, memory=memory)
    return text + indent(more)


def team_text(name, quota="", parent=None, namespaces=True, more=""):
    """A team with one quota on pool `p`; `quota` is flow style, `guarantee: 1, limit: 2`."""
    lines = [
        "apiVersion: policygen.dev/v1alpha1",
        "kind: Team",
        f"metadata: {{name: {name}}}",
        "spec:",
    ]
    if parent:
        lines.append(f"  parent: {parent}")
    if namespaces:
        lines.append(f"  namespaces: [{{name: {name}-ns}}]")
    lines.append(f"  quotas: [{{pool: p{', ' if quota else ''}{quota}}}]")
    return "\n".join(lines) + "\n" + indent(more)


def queues_text(*queues):
    """The articles' ConfigMap; each queue is flow style, `name: a, weight: 2`."""
    head = """
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: gpu-scheduler-config}
    data:
      scheduler-config.yaml: |
        queues:
    """
    lines = dedent(head).strip() + "\n"
    return lines + "".join(f"      - {{{queue}}}\n" for queue in queues)


def indent(more):
    return "".join(f"  {line}\n" for line in dedent(more).strip("\n").splitlines() if line)


@pytest.fixture
def policygen(tmp_path, capfd, monkeypatch):
    """`policygen ARGUMENTS` in a folder of its own, without the colours of a user: what it printed.

    In this process, since most of a short run is the start of Python. What only a process shows, such
    as signals and closed streams, has tests of its own.
    """

    def run(*arguments, given=""):
        with monkeypatch.context() as patch:
            patch.chdir(tmp_path)
            for name in ("NO_COLOR", "FORCE_COLOR"):
                patch.delenv(name, raising=False)
            patch.setattr(sys, "argv", ["policygen", *arguments])
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode()), "utf-8"))
            with pytest.raises(SystemExit) as stop:
                main.main()
        return subprocess.CompletedProcess(arguments, stop.value.code or 0, *capfd.readouterr())

    return run


@pytest.fixture
def run(capfdbinary, monkeypatch):
    """`policygen ARGUMENTS` in this process: exit code, stdout, stderr."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["policygen", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main.main()
        out, err = capfdbinary.readouterr()
        return int(stop.value.code or 0), out.decode(), err.decode()

    return call


@pytest.fixture
def spec(tmp_path):
    """A folder with a pool and a team."""
    folder = tmp_path / "spec"
    folder.mkdir()
    (folder / "policy.yaml").write_text(SPEC, "utf-8")
    return folder


@pytest.fixture
def planned():
    return plan_of


@pytest.fixture(scope="session")
def planned_files():
    return plan_of_files


@pytest.fixture
def pool():
    return pool_text


@pytest.fixture
def team():
    return team_text


@pytest.fixture
def article_pool():
    return ARTICLE_POOL


@pytest.fixture
def queues():
    return queues_text


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """With `-n auto`: two workers more than cores, since tests of real servers wait half of their time."""
    return (os.cpu_count() or 1) + 2


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """With `-n`: the tests of a file stay with one worker, where each has a bench, in our order.

    The last worker begins at the other end, with tests that need no servers: it uses the processor
    while the others wait for theirs.
    """
    from xdist.scheduler import LoadScopeScheduling  # noqa: PLC0415 - not with `-p no:xdist`

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return nodeid if nodeid.startswith(OWN_SCOPE) else nodeid.partition("::")[0]

        def _assign_work_unit(self, node):
            if node.gateway.id == f"gw{self.numnodes - 1}":
                self.workqueue.move_to_end(next(reversed(self.workqueue)), last=False)
            super()._assign_work_unit(node)

    config.option.loadscopereorder = False
    return ByFile(config, log)


def pytest_configure(config):
    """The worker that fills gaps gives way to the servers of the others."""
    worker = getattr(config, "workerinput", None)
    if worker and worker["workercount"] > 2:
        last = worker["workerid"] == f"gw{worker['workercount'] - 1}"
        os.nice(POLITE * last)


def pytest_collection_modifyitems(config, items):
    """With `-n`: long tests first at both ends, lest a worker begins one when the others have ended."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: _turn(item.nodeid))


def _turn(nodeid):
    if nodeid.startswith(BENCH):
        return not nodeid.startswith(LONG_OF_BENCH)
    return 3 if nodeid.startswith(LONG) else 2


def pytest_terminal_summary(terminalreporter):
    """Each reason to skip in one line, however many tests it stops, and each test that was tried again."""
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", [])
        if isinstance(report.longrepr, tuple)
    )
    for reason, count in reasons.items():
        terminalreporter.write_line(f"{count} skipped: {reason}")
    for report in terminalreporter.stats.get("rerun", []):
        crash = getattr(report.longrepr, "reprcrash", None)
        said = str(crash.message if crash else report.longrepr).partition("\n")[0]
        terminalreporter.write_line(f"tried again: {report.nodeid} ({report.when}): {said}")


def pytest_addoption(parser):
    parser.addoption("--update", action="store_true", help="rewrite golden files")


@pytest.fixture
def update(request):
    return request.config.getoption("--update")
