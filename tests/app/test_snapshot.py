"""A snapshot of a cluster."""

import json

from click.testing import CliRunner

from policygen.cli.main import cli
from tests import kubeconfigs, loopback
from tests.loopback import Loopback


def test_a_snapshot_reports_what_it_did_not_read(tmp_path):
    def respond(request):
        kinds = {"resource": "pods", "responseKind": {"kind": "Pod"}, "scope": "Namespaced"}
        group = {"versions": [{"version": "v1", "resources": [{**kinds, "verbs": ["list"]}]}]}
        groups = [group] if request.path in ("/api", "/apis") else []
        head = {"kind": "PodList", "apiVersion": "v1", "metadata": {}}
        loopback.send(request, json.dumps({**head, "items": groups}).encode())

    with Loopback(loopback.http(respond)).running() as server:
        path = kubeconfigs.write(tmp_path / "kubeconfig", server.url, {"token": "t"})
        options = ["--context", "x", "--kubeconfig", str(path), "--namespace", "typo"]
        done = CliRunner().invoke(cli, ["snapshot", *options, "-o", str(tmp_path / "s")])
    assert done.exit_code == 3
    assert 'x: nothing was read in namespace "typo"' in done.stderr
    assert "x: the version of the server could not be read" in done.stderr
