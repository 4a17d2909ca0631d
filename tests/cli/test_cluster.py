"""Commands about one cluster."""

import pytest
from click.testing import CliRunner

from policygen.cli.main import cli


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
