"""A preflight checks permissions, and ends in time."""

import time

from click.testing import CliRunner

from policygen.cli.main import cli
from policygen.client.access import Access
from policygen.core.errors import UnreadError
from tests import kubeconfigs, loopback
from tests.client.plugins import HANGS, PLUGIN, ends, program
from tests.loopback import Loopback


def test_a_preflight_waits_for_no_plugin_and_ends_in_time(tmp_path):
    hanging = program(tmp_path / "plugin", HANGS.format(pid=tmp_path / "pid"))

    def respond(request):
        request.rfile.read(int(request.headers["content-length"]))
        time.sleep(0.5)
        loopback.send(request, b'{"status": {"allowed": true}}', 201)

    def preflight(url, user):
        path = kubeconfigs.write(tmp_path / "kubeconfig", url, {"token": "t"})
        Access("x", path)  # what it imports takes time
        kubeconfigs.write(path, url, user)
        options = ["rbac", "--preflight", "--context", "x", "--kubeconfig", str(path)]
        done = CliRunner().invoke(cli, [*options, "--timeout", "4"])
        assert isinstance(done.exception, UnreadError), done.output
        return str(done.exception)

    with Loopback(loopback.http(respond)).running() as server:
        said = preflight(server.url, {"token": "t"})
    assert "the time limit was reached" in said or "no answer within" in said
    said = preflight("http://127.0.0.1:9", {"exec": {**PLUGIN, "command": hanging}})
    assert f"exec plugin {hanging} took longer than 4 s; raise --timeout" in said
    assert ends((tmp_path / "pid").read_text().strip())
