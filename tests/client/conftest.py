"""Runs lint of a cluster with a kubeconfig."""

import pytest
from click.testing import CliRunner

from policygen.cli.main import cli
from tests import kubeconfigs


@pytest.fixture
def lint(tmp_path):
    def run(user, *, context="x", text=None, server="http://127.0.0.1:9", timeout_s=8):
        path = kubeconfigs.write(tmp_path / "kubeconfig", server, user)
        if text is not None:
            path.write_text(text, "utf-8")
        options = ["lint", "--context", context, "--kubeconfig", str(path)]
        return CliRunner().invoke(cli, [*options, "--timeout", str(timeout_s)])

    return run
