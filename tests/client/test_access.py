"""Failed access to a cluster is reported with a remedy, and never continues as an anonymous user."""

import base64
import signal
import socket
import socketserver
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import certifi
import pytest
from click.testing import CliRunner

from policygen.cli.main import cli
from policygen.client.access import Access
from tests import kubeconfigs
from tests.client.plugins import PLUGIN
from tests.loopback import Loopback


@pytest.mark.parametrize(
    "user, options, said",
    [
        ({}, {"context": "nope"}, 'context "nope" does not exist in'),
        ({}, {"context": "X"}, 'did you mean "x"?'),
        ({}, {"text": "{{{"}, "while parsing a flow"),
        ({}, {"text": "contexts: 5"}, "is not a kubeconfig: it must be a mapping"),
        ({}, {"text": "contexts: [5]"}, "is not a kubeconfig: it must be a mapping"),
        ({}, {"text": "a: ["}, "while parsing a flow node"),
        ({}, {"text": "[]"}, "is not a kubeconfig: it must be a mapping"),
        ({}, {"text": "apiVersion: v1"}, "no context is defined"),
        ({"tokenFile": "/nonexistent"}, {}, "/nonexistent"),
        ({"token": "a\nb"}, {}, (
            "the token or impersonated user of the context has characters that HTTP headers "
            "cannot contain"
        )),
        ({"exec": {**PLUGIN}}, {}, "the exec plugin of the user has no command"),
        ({"exec": {**PLUGIN, "command": "./nonexistent"}}, {}, "./nonexistent is not installed"),
        ({"exec": {**PLUGIN, "command": __file__}}, {}, "is not executable"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_a_usage_error(lint, user, options, said):
    done = lint(user, **options)
    assert done.exception.__class__.__name__ == "UsageError", done.output
    assert said in str(done.exception)


def test_no_key_that_the_client_writes_into_a_file_is_left(lint, tmp_path, monkeypatch):
    """The client removes them when Python exits, but the program ends earlier."""
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
    assert "the client-certificate and client-key of the user do not match" in str(done.exception)
    assert len(made) == 2
    assert list(folder.iterdir()) == []


def test_clusters_that_are_reached_at_once_keep_their_files(tmp_path):
    """The client finds its temporary files by their content, and removes all of them together."""
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


def test_what_stays_wrong_is_asked_once(lint):
    """An invalid URL, and a server that does not speak TLS."""
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
    assert 1 <= len(asked) <= 3  # discovery and version are requested at the same time


def test_a_server_that_does_not_answer_is_incomplete(lint):
    done = lint({"token": "t"})
    assert done.exit_code == 3
    assert "the cluster at http://127.0.0.1:9 could not be read: Failed to establish" in done.stdout
    assert "HTTPConnection" not in done.stdout


def test_outside_of_a_pod_there_is_no_pods_identity(monkeypatch):
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    done = CliRunner().invoke(cli, ["lint", "--in-cluster"])
    assert str(done.exception) == (
        "--in-cluster works only in a pod (KUBERNETES_SERVICE_HOST is not set); "
        "write --context CONTEXT"
    )


def test_importing_the_commands_imports_no_client():
    """`--help` and lint of files must not pay for it."""
    code = "import sys, policygen.cli.main, policygen.app.lint; print({'kubernetes', 'urllib3'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_an_interrupted_look_ends_at_once(tmp_path):
    """Even while it waits for responses, which may take a minute."""
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


def test_a_password_in_the_servers_url_is_not_shown(lint):
    done = lint({}, server="http://user:hidden@127.0.0.1:9", timeout_s=60)
    assert "the cluster at http://127.0.0.1:9 could not be read: " in done.stdout
    assert "hidden" not in done.output
