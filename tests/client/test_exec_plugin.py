"""Exec plugins for credentials: which input they get, and that they end."""

import json
import sys
import time

from policygen.client.access import Access
from tests import kubeconfigs, loopback
from tests.client.plugins import HANGS, PLUGIN, ends, program
from tests.loopback import Loopback


def test_a_plugin_runs_in_the_folder_of_the_run(tmp_path, monkeypatch):
    """In the directory in which kubectl runs it, so that relative paths have the same meaning."""
    said = """
import json, os
version, status = "client.authentication.k8s.io/v1", {"token": os.getcwd()}
print(json.dumps({"apiVersion": version, "kind": "ExecCredential", "status": status}))
"""
    plugin = {**PLUGIN, "command": sys.executable, "args": ["-c", said]}
    path = kubeconfigs.write(tmp_path / "kubeconfig", "http://127.0.0.1:9", {"exec": plugin})
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    headers, _ = Access("x", path).credentials({})
    assert headers["authorization"] == f"Bearer {here}"


def test_a_plugin_that_does_not_end_is_ended_with_all_that_it_has_started(lint, tmp_path):
    command = program(tmp_path / "plugin", HANGS.format(pid=tmp_path / "pid"))
    began = time.monotonic()
    done = lint({"exec": {**PLUGIN, "command": command}}, timeout_s=3)
    assert time.monotonic() - began < 30
    assert done.exit_code == 3
    assert f"exec plugin {command} took longer than 3 s; raise --timeout" in done.stdout
    assert ends((tmp_path / "pid").read_text().strip())


def test_a_plugin_that_hangs_when_it_is_asked_again_is_ended(lint, tmp_path):
    text = f"""#!/bin/sh
if [ -e {tmp_path}/asked ]; then
sleep 300 &
echo $! > {tmp_path}/pid
wait
fi
touch {tmp_path}/asked
echo '{json.dumps(answer(token="t"))}'
"""
    command = program(tmp_path / "plugin", text)

    def respond(request):
        loopback.send(request, b"{}", 401)

    with Loopback(loopback.http(respond)).running() as server:
        done = lint({"exec": {**PLUGIN, "command": command}}, server=server.url, timeout_s=3)
    assert done.exit_code == 3
    assert ends((tmp_path / "pid").read_text().strip())


def answer(**status):
    return {"apiVersion": PLUGIN["apiVersion"], "kind": "ExecCredential", "status": status}


def test_a_plugin_gets_the_cluster_and_runs_again_when_its_token_expires(tmp_path):
    over = {"token": "t", "expirationTimestamp": "2020-01-01T00:00:00Z"}
    text = f"""#!/bin/sh
echo "$KUBERNETES_EXEC_INFO $WHO $1" >> {tmp_path}/asked
echo '{json.dumps(answer(**over))}'
"""
    program(tmp_path / "plugin", text)
    plugin = {
        **PLUGIN,
        "command": "./plugin",  # beside the kubeconfig
        "args": ["login"],
        "env": [{"name": "WHO", "value": "me"}],
        "provideClusterInfo": True,
    }
    url = "http://127.0.0.1:9"
    way = Access("x", kubeconfigs.write(tmp_path / "kubeconfig", url, {"exec": plugin}))
    headers, renewals = way.credentials({})
    assert headers["authorization"] == "Bearer t"
    assert renewals == 2  # the first look at them is the look at what no header can hold
    asked = (tmp_path / "asked").read_text().splitlines()
    assert len(asked) == 3
    told = {"interactive": False, "cluster": {"server": url}}
    assert json.loads(asked[0].removesuffix(" me login"))["spec"] == told
