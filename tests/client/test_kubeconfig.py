"""An unusable kubeconfig is reported with its path and its error."""

import json
import subprocess
import sys

import yaml
from click.testing import CliRunner

from policygen.cli.main import cli
from tests.client.plugins import PLUGIN


def test_one_context_of_several_that_cannot_be_used_is_a_finding(tmp_path):
    config = {
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:9"}}],
        "users": [
            {"name": "u", "user": {"exec": {**PLUGIN, "command": "/nonexistent"}}},
            {"name": "v", "user": {"token": "t"}},
        ],
        "contexts": [
            {"name": name, "context": {"cluster": cluster, "user": user}}
            for name, cluster, user in [
                ("a", "c", "u"),
                ("b", "c", "v"),
                ("no-user", "c", "w"),
                ("no-cluster", "d", "v"),
            ]
        ],
    }
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump(config), "utf-8")
    names = ["a", "b", "no-user", "no-cluster", "nowhere"]
    options = [word for name in names for word in ("--context", name)]
    done = CliRunner().invoke(
        cli, ["lint", *options, "--kubeconfig", str(path), "--timeout", "8", "-f", "json"]
    )
    assert done.exit_code == 3
    told = {it["cluster"]: it["message"] for it in json.loads(done.stdout)["findings"]}
    assert set(told) == set(names)
    for name, said in {
        "a": "exec plugin /nonexistent is not installed, or is not on PATH",
        "b": "the cluster at http://127.0.0.1:9 could not be read",
        "no-user": 'the context names user "w", which does not exist in the kubeconfig',
        "no-cluster": 'the context names cluster "d", which does not exist in the kubeconfig',
        "nowhere": 'context "nowhere" does not exist',
    }.items():
        assert said in told[name]


def test_a_kubeconfig_that_is_not_there_is_named(tmp_path):
    path = tmp_path / "gone"
    done = CliRunner().invoke(cli, ["lint", "--context", "x", "--kubeconfig", str(path)])
    assert str(done.exception) == f"kubeconfig {path} does not exist; write --kubeconfig FILE"


def test_a_kubeconfig_that_is_not_text_is_reported(tmp_path):
    path = tmp_path / "config"
    path.write_bytes(b"\xff\xfe")
    done = CliRunner().invoke(cli, ["lint", "--context", "x", "--kubeconfig", str(path)])
    assert "is not a kubeconfig: it is not UTF-8" in str(done.exception)


def test_an_empty_kubeconfig_variable_is_ignored(tmp_path):
    """Like kubectl: CI systems export empty variables."""
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube" / "config").write_text("contexts: []\nclusters: []\nusers: []\n", "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "policygen", "lint", "--context", "x"],
        env={"HOME": str(tmp_path), "KUBECONFIG": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert 'context "x" does not exist in ~/.kube/config' in done.stderr
