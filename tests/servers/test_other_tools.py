"""A real API server with the CRDs of other tools accepts what we write for these tools, strictly."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from policygen.cli.main import cli
from tests.servers.upstream import ARGO_CD, FLUX, OPENREPORTS

ROOT = Path(__file__).parents[2]
QUEUES = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: a100, namespace: vision}
spec: {clusterQueue: visio.a100}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: vision.a100}
spec: {namespaceSelector: {}}
"""


@pytest.fixture
def server(cluster, tools):
    """A cluster with the CRDs of Argo CD, Flux and OpenReports."""
    folders = [tools[it.name].folder / "assets" for it in (ARGO_CD, *FLUX, OPENREPORTS)]
    files = [path for folder in folders for path in sorted(folder.rglob("*.yaml"))]
    definitions = [it for file in files for it in yaml.safe_load_all(file.read_text("utf-8"))]
    cluster.create(*definitions)
    kinds = [
        (f"{it['spec']['group']}/{version['name']}", it["spec"]["names"]["plural"])
        for it in definitions
        for version in it["spec"]["versions"]
        if version["served"]
    ]

    def served():
        return all(cluster.client.get(f"/apis/{at}/{plural}").ok for at, plural in kinds)

    cluster.until("all CRDs are served", served)
    return cluster


def test_kubectl_runs_policygen_as_a_plugin(tools, tmp_path):
    """The entry point `kubectl-policygen` of pyproject.toml is a script like this one."""
    plugin = tmp_path / "kubectl-policygen"
    plugin.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(ROOT)!r})\n"
        "from policygen.__main__ import main\nmain()\n"
    )
    plugin.chmod(0o755)
    command = [tools["kubectl"].binary("kubectl"), "policygen", "render", "--help"]
    done = subprocess.run(
        command,
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("Usage: kubectl policygen render [OPTIONS] SPEC...")


def test_reports_of_openreports_are_accepted(server, tmp_path):
    file = tmp_path / "queues.yaml"
    file.write_text(QUEUES)
    done = CliRunner().invoke(cli, ["lint", "--manifests", str(file), "-f", "openreports"])
    assert done.exit_code == 1, done.stderr
    items = yaml.safe_load(done.stdout)["items"]
    again = server.apply_twice("---\n".join(map(yaml.safe_dump, items)))
    assert (again.refused, again.changed, again.warnings) == ([], [], [])
    at = "openreports.io/v1alpha1"
    of_team = server.get(at, "Report", "policygen", "vision")
    assert of_team["summary"]["fail"] == 1
    (result,) = [it for it in of_team["results"] if it["result"] == "fail"]
    assert result["policy"] == "local-queue-without-cluster-queue"
    assert result["resources"][0]["name"] == "a100"
    assert server.get(at, "ClusterReport", "policygen")["summary"]["pass"] > 0
