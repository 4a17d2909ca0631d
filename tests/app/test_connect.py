"""With one context, pods are requested before rules are imported and specs are read."""

import json
import socket
import subprocess
import sys
from collections import Counter
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest

from tests import kubeconfigs, loopback

KINDS = {"": ["Pod", "Node", "Namespace"], "apps": ["Deployment"], "batch": ["Job"]}
LISTS = {f"{kind.lower()}s": f"{kind}List" for kinds in KINDS.values() for kind in kinds}
NOBODY = "http://127.0.0.1:9"
FIRST = "/api/v1/pods?limit=1000"


def discovery(path):
    """The discovery response of `/api` or `/apis`."""
    items = []
    for group, kinds in KINDS.items():
        if (group == "") == (path == "/api"):
            resources = [
                {"resource": f"{kind.lower()}s", "responseKind": {"kind": kind}, "verbs": ["list"]}
                for kind in kinds
            ]
            versions = [{"version": "v1", "resources": resources}]
            items.append({"metadata": {"name": group}, "versions": versions})
    return {"items": items}


@pytest.fixture
def server():
    """An API server with nothing in it; pods may be forbidden."""
    given = SimpleNamespace(asked=[], forbidden=False, url="")

    def respond(request):
        given.asked.append(request.path)
        path = urlsplit(request.path).path
        version, _, plural = path.rpartition("/")
        head = {"apiVersion": version.removeprefix("/apis/").removeprefix("/api/")}
        status, body = 200, {**head, "kind": LISTS.get(plural), "metadata": {}, "items": []}
        if path in ("/api", "/apis"):
            body = discovery(path)
        elif path == "/version":
            body = {"gitVersion": "v1.36.3"}
        elif path == "/api/v1/pods" and given.forbidden:
            status, body = 403, {"kind": "Status", "message": "pods is forbidden"}
        loopback.send(request, json.dumps(body).encode(), status)

    with loopback.Loopback(loopback.http(respond)).running() as running:
        given.url = running.url
        yield given


@pytest.fixture
def lint(tmp_path):
    """Runs lint of the cluster at a URL; returns the finished process."""

    def run(url, *more, user=None):
        path = kubeconfigs.write(tmp_path / "kubeconfig", url, user or {"token": "t"})
        command = [sys.executable, "-m", "policygen", "lint", "--context", "x", "-f", "json"]
        command += ["--kubeconfig", str(path), *more]
        return subprocess.run(command, capture_output=True, text=True, timeout=40, check=False)

    return run


def test_pods_are_requested_first_and_once(server, lint):
    done = lint(server.url)
    assert done.returncode == 0, done.stdout
    assert server.asked[0] == FIRST
    # Kinds that are not served at first are looked for once more.
    assert {it for it, number in Counter(server.asked).items() if number > 1} <= {"/api", "/apis"}


@pytest.mark.parametrize(
    "more",
    [
        ["--rule", "local-queue-without-cluster-queue"],
        ["--skip", "pod-fits-no-node"],
        ["--namespace", "n"],
    ],
)
def test_pods_are_not_requested_first_for_a_partial_run(server, lint, more):
    lint(server.url, *more)
    assert server.asked
    assert server.asked[0] != FIRST
    assert Counter(server.asked)[FIRST] <= 1


def test_pods_that_cannot_be_read_are_a_gap_as_ever(server, lint):
    server.forbidden = True
    done = lint(server.url)
    assert done.returncode == 3
    told = [it["message"] for it in json.loads(done.stdout)["findings"] if it["rule"] == "not-read"]
    assert told == ["Pod could not be read: 403: pods is forbidden"]


@pytest.fixture
def refused(tmp_path):
    """A spec that is refused."""
    path = tmp_path / "spec.yaml"
    path.write_text("apiVersion: policygen.dev/v1\nkind: Nothing\n", "utf-8")
    return str(path)


def test_a_refused_spec_does_not_wait_for_pods(lint, refused):
    """A server that does not respond would otherwise delay the error by a minute."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        done = lint(f"http://127.0.0.1:{silent.getsockname()[1]}", refused)
        held = silent.accept()[0]  # pods were requested
        assert held.recv(999).startswith(f"GET {FIRST} ".encode())
        held.close()
    assert done.returncode == 2
    assert "Nothing" in done.stderr


def test_a_refused_spec_is_reported_before_a_missing_plugin(lint, refused):
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "/nonexistent"}}
    done = lint(NOBODY, user=user)
    assert done.returncode == 2
    assert "/nonexistent is not installed" in done.stderr
    done = lint(NOBODY, refused, user=user)
    assert done.returncode == 2
    assert "Nothing" in done.stderr
    assert "/nonexistent" not in done.stderr
