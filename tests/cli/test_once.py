"""A command parses --target once, selects rules once and compiles the spec once."""

from collections import Counter

import pytest
from click.testing import CliRunner

from policygen.app import compile as app_compile
from policygen.cli import options
from policygen.cli.main import cli
from policygen.client import snapshot_file
from policygen.lint import selection
from tests.cli.commands import ROOT
from tests.client.looks import snapshot

STORY = ROOT / "examples" / "kueue-team-tree"
SPEC = [str(STORY / name) for name in ("platform.yaml", "teams.yaml", "models.yaml")]
MANIFESTS = STORY / "expected" / "manifests.yaml"
FIXABLE = """\
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: a}
spec: {namespaceSelector: {}, cohort: b}
"""


@pytest.fixture
def calls(monkeypatch):
    """How often a command called each function."""
    found = Counter()

    def counting(function, name):
        def counted(*arguments, **named):
            found[name] += 1
            return function(*arguments, **named)

        return counted

    for module, name in (
        (options, "parse_targets"),
        (selection, "select"),
        (app_compile, "compile_plan"),
    ):
        monkeypatch.setattr(module, name, counting(getattr(module, name), name))
    return found


@pytest.fixture
def files(tmp_path):
    """Files that commands read, in one folder."""
    text = MANIFESTS.read_text("utf-8")
    for name in ("before", "after"):
        snapshot_file.write(snapshot(text), tmp_path / name)
    (tmp_path / "fixable.yaml").write_text(FIXABLE, "utf-8")
    for name in ("one", "two"):
        (tmp_path / "cases" / name).mkdir(parents=True)
        (tmp_path / "cases" / name / "a.yaml").write_text(text, "utf-8")
        (tmp_path / "cases" / name / "findings.txt").write_text("", "utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "arguments, selects",
    [
        (["render", *SPEC], 0),
        (["render", "--kueue-helm-values", *SPEC], 0),
        (["validate", *SPEC], 0),
        (["lint", *SPEC, "--manifests", str(MANIFESTS), "-f", "sarif"], 1),
        (["lint", *SPEC, "--snapshot", "before", "--snapshot", "after"], 1),
        (["lint", *SPEC, "--manifests", "fixable.yaml", "--fix", "--write"], 1),
        (["baseline", "update", "--baseline", "new.json", *SPEC, "--manifests", str(MANIFESTS)], 1),
        (["diff", "before", "after", *(word for path in SPEC for word in ("--spec", path))], 1),
        (["rbac", *SPEC], 1),
        (["test", "cases", *SPEC], 1),
    ],
    ids=lambda it: it[0] if isinstance(it, list) else "",
)
def test_each_step_runs_once(calls, files, monkeypatch, arguments, selects):
    monkeypatch.chdir(files)
    done = CliRunner().invoke(cli, [*arguments, "--target", "kueue=0.18"])
    assert done.exit_code in {0, 1}, done.output
    assert calls == {"parse_targets": 1, "compile_plan": 1} | ({"select": 1} if selects else {})
