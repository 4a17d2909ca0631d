"""Commands about one cluster."""

import pytest
from click.testing import CliRunner

from policygen.cli.main import cli


@pytest.mark.parametrize("command", ["snapshot -o x", "rbac --preflight", "diff a"])
def test_one_cluster_is_one(command):
    done = CliRunner().invoke(cli, [*command.split(), "--context", "a", "--context", "b"])
    assert done.exit_code == 2
    assert "name one cluster" in done.output
