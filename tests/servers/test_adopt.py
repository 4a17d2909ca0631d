"""`policygen adopt --context` on the real API server, with queues that were written by hand."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from policygen.cli.main import cli
from tests.servers.bench import CONTEXT, TOKEN
from tests.servers.nodes import Shape
from tests.servers.proxy import Proxy

DOCS = Path(__file__).parents[2] / "docs" / "adopt" / "queues.yaml"
VOLCANO = """
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: batch}
spec:
  reclaimable: true
  deserved: {cpu: 16, memory: 64Gi, amd.com/gpu: 2}
  capability: {cpu: 32, memory: 128Gi, amd.com/gpu: 4}
"""


@pytest.fixture
def policygen(bench, cluster, tmp_path):  # noqa: ARG001 - a clean one
    """Run a command as the admin: exit code, standard output and standard error."""
    with Proxy(bench.server, bench.ca).running() as running:
        kubeconfig = running.kubeconfig(tmp_path / "kubeconfig", {"token": TOKEN})

        def run(*arguments):
            done = CliRunner().invoke(cli, [*map(str, arguments), "--kubeconfig", str(kubeconfig)])
            assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
            return done.exit_code, done.stdout, done.stderr

        yield run


def test_adopted_queues_differ_only_in_what_the_list_names(cluster, policygen, tmp_path):
    """lint compares the cluster with the adopted spec; the list names each object that it reports."""
    hand = [it for it in DOCS.read_text("utf-8").split("---\n") if "kind: Node" not in it]
    cluster.apply("---\n".join(hand) + VOLCANO)
    labels = {"cloud.google.com/gke-accelerator": "nvidia-tesla-a100"}
    cluster.add_nodes(Shape(labels=labels), 2)
    folder = tmp_path / "spec"
    code, _, listed = policygen("adopt", "--context", CONTEXT, "-o", folder)
    assert code == 1, listed
    spec = "".join(it.read_text("utf-8") for it in folder.iterdir())
    assert "name: vision" in spec
    assert "name: batch" in spec
    assert "nodes: 2" in spec
    _, out, _ = policygen("lint", "--context", CONTEXT, folder, "-f", "json")
    found = [
        it
        for it in json.loads(out)["findings"]
        if it["rule"] in {"object-missing", "field-drifted"}
    ]
    assert found
    assert [it["object"] for it in found if it["object"] not in listed] == []
