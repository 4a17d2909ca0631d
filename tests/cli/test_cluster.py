"""Commands about one cluster."""

import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from policygen.cli.main import cli

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("command", ["snapshot -o x", "rbac --preflight", "diff a"])
def test_one_cluster_is_one(command):
    done = CliRunner().invoke(cli, [*command.split(), "--context", "a", "--context", "b"])
    assert done.exit_code == 2
    assert "name one cluster" in done.output


@pytest.mark.parametrize("command", ["snapshot", "rbac"])
def test_rule_selects_what_is_read(command):
    shown = CliRunner().invoke(cli, [command, "--help"]).output
    assert "Read only the objects that this rule needs; repeatable." in " ".join(shown.split())
    assert "Run only this rule" not in shown


def test_rule_of_diff_selects_what_runs():
    assert "Run only this rule" in CliRunner().invoke(cli, ["diff", "--help"]).output


def test_two_specs_are_compared(policygen, tmp_path):
    spec = tmp_path / "spec.yaml"
    shutil.copy(ROOT / "examples/forty-jobs/policy.yaml", spec)
    done = policygen("diff", "spec.yaml", "spec.yaml")
    assert (done.returncode, done.stdout) == (0, "no difference\n")
    (tmp_path / "new.yaml").write_text(spec.read_text().replace("guarantee: 16", "guarantee: 15"))
    for words, code in (((), 1), (("--no-exit-code",), 0)):
        done = policygen("diff", "spec.yaml", "new.yaml", *words)
        assert done.returncode == code
        assert "guaranteed 16 → 15 nvidia.com/gpu" in done.stdout


def test_a_spec_can_come_from_a_pipe():
    """As in `policygen diff <(git show main:spec.yaml) spec.yaml`."""
    spec = ROOT / "examples/spot-and-on-demand/policy.yaml"
    end, start = os.pipe()
    os.write(start, spec.read_bytes())
    os.close(start)
    done = CliRunner().invoke(cli, ["diff", f"/dev/fd/{end}", str(spec)])
    os.close(end)
    assert (done.exit_code, done.output) == (0, "no difference\n")


def test_options_of_clusters_mean_nothing_for_two_specs(policygen):
    for option, of in (
        ("--spec", "two snapshots or clusters"),
        ("--rule", "two snapshots or clusters"),
        ("--namespace", "a live cluster"),
    ):
        done = policygen("diff", "spec.yaml", "spec.yaml", option, "pods-must-carry")
        assert done.returncode == 2
        assert f"{option} is only for {of}; omit {option}" in done.stderr
