"""A way to a cluster that cannot be used is told, with what to mend, and never taken as nobody."""

import base64
import json
import signal
import socket
import socketserver
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import certifi
import pytest
import yaml
from click.testing import CliRunner

from policygen.cli.main import cli
from policygen.client.access import Access
from policygen.core.errors import UnreadError
from tests import kubeconfigs, loopback
from tests.loopback import Loopback

PLUGIN = {"apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never"}


@pytest.fixture
def lint(tmp_path):
    def run(user, *, context="x", text=None, server="http://127.0.0.1:9", timeout_s=8):
        path = kubeconfigs.write(tmp_path / "kubeconfig", server, user)
        if text is not None:
            path.write_text(text, "utf-8")
        options = ["lint", "--context", context, "--kubeconfig", str(path)]
        return CliRunner().invoke(cli, [*options, "--timeout", str(timeout_s)])

    return run


@pytest.mark.parametrize(
    "user, options, said",
    [
        ({}, {"context": "nope"}, 'context "nope" does not exist in'),
        ({}, {"context": "X"}, 'did you mean "x"?'),
        ({}, {"text": "{{{"}, "while parsing a flow"),
        ({}, {"text": "contexts: 5"}, "is not a kubeconfig: it is not a mapping whose"),
        ({}, {"text": "contexts: [5]"}, "is not a kubeconfig: it is not a mapping whose"),
        ({}, {"text": "a: ["}, "while parsing a flow node"),
        ({}, {"text": "[]"}, "is not a kubeconfig: it is not a mapping whose"),
        ({}, {"text": "apiVersion: v1"}, "no names are defined"),
        ({"tokenFile": "/nonexistent"}, {}, "/nonexistent"),
        ({"token": "a\nb"}, {}, "its token or impersonated user has characters that HTTP headers cannot have"),
        ({"exec": {**PLUGIN}}, {}, "its exec plugin has no command"),
        ({"exec": {**PLUGIN, "command": "./nonexistent"}}, {}, "./nonexistent is not installed"),
        ({"exec": {**PLUGIN, "command": __file__}}, {}, "is not executable"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_a_usage_error(lint, user, options, said):
    done = lint(user, **options)
    assert done.exception.__class__.__name__ == "UsageError", done.output
    assert said in str(done.exception)


def test_no_key_that_the_client_writes_into_a_file_is_left(lint, tmp_path, monkeypatch):
    """It removes them as Python ends, and the program leaves before that."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    made = []
    original = tempfile.mkstemp

    def mkstemp(*args, **options):
        made.append(original(*args, **options))
        return made[-1]

    monkeypatch.setattr(tempfile, "mkstemp", mkstemp)
    key, certificate = (base64.b64encode(each).decode() for each in (b"key", b"certificate"))
    user = {"client-certificate-data": certificate, "client-key-data": key}
    done = lint(user, server="https://127.0.0.1:9")
    assert "its client-certificate and client-key do not match" in str(done.exception)
    assert len(made) == 2
    assert list(folder.iterdir()) == []


def test_a_plugin_runs_in_the_folder_of_the_run(tmp_path, monkeypatch):
    """As kubectl runs it, so that paths among its arguments mean the same."""
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


def test_clusters_that_are_reached_at_once_keep_their_files(tmp_path):
    """The client knows its temporary files by what is in them, and removes all of them together."""
    end = "-----END CERTIFICATE-----\n"
    first = certifi.contents().partition(end)[0] + end
    authority = base64.b64encode(first.encode()).decode()
    path = kubeconfigs.write(
        tmp_path / "kubeconfig",
        "https://127.0.0.1:9",
        {"token": "t"},
        certificate_authority_data=authority,
    )

    def reach(_):
        return Access("x", path).name

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(reach, range(200))) == ["x"] * 200


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
        "a": "its exec plugin /nonexistent is not installed, or not on PATH",
        "b": "nothing could be read of http://127.0.0.1:9",
        "no-user": 'its user "w" does not exist',
        "no-cluster": 'its cluster "d" does not exist',
        "nowhere": 'context "nowhere" does not exist',
    }.items():
        assert said in told[name]


def test_a_kubeconfig_that_is_not_there_is_named(tmp_path):
    path = tmp_path / "gone"
    done = CliRunner().invoke(cli, ["lint", "--context", "x", "--kubeconfig", str(path)])
    assert str(done.exception) == f"kubeconfig {path} does not exist; write --kubeconfig FILE"


def test_a_kubeconfig_that_is_no_text_is_told(tmp_path):
    path = tmp_path / "config"
    path.write_bytes(b"\xff\xfe")
    done = CliRunner().invoke(cli, ["lint", "--context", "x", "--kubeconfig", str(path)])
    assert "is not a kubeconfig: it is not UTF-8" in str(done.exception)


def test_what_stays_wrong_is_asked_once(lint):
    """An URL that is none, and a server that does not speak TLS."""
    done = lint({"token": "t"}, server="::not a url")
    assert done.exit_code == 3
    assert "Failed to parse" in done.stdout
    assert "5 requests" not in done.stdout
    asked = []

    class Plain(socketserver.BaseRequestHandler):
        def handle(self):
            asked.append(self.request.recv(1))
            self.request.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with Loopback(socketserver.TCPServer(("127.0.0.1", 0), Plain)).running() as plain:
        done = lint({"token": "t"}, server=f"https://{plain.address}")
    assert done.exit_code == 3
    assert "SSL" in done.stdout
    assert "5 requests" not in done.stdout
    assert 1 <= len(asked) <= 3  # what is served and the version are asked for at once


def test_a_server_that_does_not_answer_is_incomplete(lint):
    done = lint({"token": "t"})
    assert done.exit_code == 3
    assert "nothing could be read of http://127.0.0.1:9: Failed to establish" in done.stdout
    assert "HTTPConnection" not in done.stdout


HANGS = """#!/bin/sh
sleep 300 &
echo $! > {pid}
wait
"""


def program(path, text):
    path.write_text(text, "utf-8")
    path.chmod(0o700)
    return str(path)


def ends(pid):
    """Whether a process is gone, or only waits to be told of; some time is given to it."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        done = subprocess.run(["ps", "-o", "stat=", "-p", pid], capture_output=True, check=False)
        if done.stdout.strip()[:1] in (b"", b"Z"):
            return True
        time.sleep(0.05)
    return False


def test_a_plugin_that_does_not_end_is_ended_with_all_that_it_has_started(lint, tmp_path):
    command = program(tmp_path / "plugin", HANGS.format(pid=tmp_path / "pid"))
    began = time.monotonic()
    done = lint({"exec": {**PLUGIN, "command": command}}, timeout_s=3)
    assert time.monotonic() - began < 30
    assert done.exit_code == 3
    assert f"no credentials from its exec plugin {command} within 3 s" in done.stdout
    assert ends((tmp_path / "pid").read_text().strip())


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
    assert f"no credentials from its exec plugin {hanging} within 4 s" in said
    assert ends((tmp_path / "pid").read_text().strip())


def test_a_snapshot_says_what_it_missed_that_is_no_gap(tmp_path):
    def respond(request):
        loopback.send(request, b'{"kind": "List", "metadata": {}, "items": []}')

    with Loopback(loopback.http(respond)).running() as server:
        path = kubeconfigs.write(tmp_path / "kubeconfig", server.url, {"token": "t"})
        options = ["--context", "x", "--kubeconfig", str(path), "--namespace", "typo"]
        done = CliRunner().invoke(cli, ["snapshot", *options, "-o", str(tmp_path / "s")])
    assert done.exit_code == 3
    assert 'x: nothing was read in namespace "typo"' in done.stderr
    assert "x: the version of the server could not be read" in done.stderr


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


def test_a_plugin_is_told_of_the_cluster_and_asked_again_when_its_token_is_over(tmp_path):
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


def test_outside_of_a_pod_there_is_no_pods_identity(monkeypatch):
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    done = CliRunner().invoke(cli, ["lint", "--in-cluster"])
    assert str(done.exception) == (
        "--in-cluster works only in a pod (KUBERNETES_SERVICE_HOST is not set); "
        "write --context CONTEXT"
    )


def test_an_empty_kubeconfig_variable_is_as_good_as_none(tmp_path):
    """As kubectl takes it: CI systems export empty ones."""
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


@pytest.mark.parametrize("command", ["snapshot -o x", "rbac --preflight", "diff a"])
def test_one_cluster_is_one(command):
    done = CliRunner().invoke(cli, [*command.split(), "--context", "a", "--context", "b"])
    assert done.exit_code == 2
    assert "name one cluster" in done.output


def test_importing_the_commands_imports_no_client():
    """`--help` and lint of files must not pay for it."""
    code = "import sys, policygen.cli.main, policygen.app.lint; print({'kubernetes', 'urllib3'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_an_interrupted_look_ends_at_once(tmp_path):
    """While every answer is being waited for, which may take a minute."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        path = kubeconfigs.write(tmp_path / "kubeconfig", url, {"token": "t"})
        command = [
            sys.executable,
            "-m",
            "policygen",
            "lint",
            "--context",
            "x",
            "--kubeconfig",
            path,
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            held = [silent.accept()[0] for _ in range(2)]  # one thread each
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=20)
            for each in held:
                each.close()
    assert process.returncode == 130


def test_a_password_in_the_servers_url_is_not_told(lint):
    done = lint({}, server="http://user:hidden@127.0.0.1:9", timeout_s=60)
    assert "nothing could be read of http://127.0.0.1:9: " in done.stdout
    assert "hidden" not in done.output
