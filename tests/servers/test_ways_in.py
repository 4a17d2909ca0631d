"""Every kind of access in a kubeconfig gives the same result as kubectl, if kubectl is installed."""

import base64
import copy
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from unittest import mock

import pytest
import yaml

from policygen.cli import main
from tests.servers.bench import CONTEXT, OBSERVER_TOKEN, TOKEN
from tests.servers.client import Client
from tests.servers.issuer import CLIENT, SECRET, Issuer
from tests.servers.proxy import Fault, Proxy
from tests.servers.tunnel import Tunnel

pytestmark = pytest.mark.usefixtures("cluster")
FAR = "https://kubernetes.default.svc"
"""A name in the API server's certificate that only the tunnel knows."""
CLEAN = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}


class Way:
    """A kubeconfig, and the results of commands that use it."""

    def __init__(self, bench, path, capfd):
        self.path = path
        self.capfd = capfd
        self.config = yaml.safe_load(bench.kubeconfig.read_text("utf-8"))
        self.cluster = self.config["clusters"][0]["cluster"]
        self.environment = dict(CLEAN)

    def user(self, **user):
        self.config["users"][0]["user"] = user
        return self

    def server(self, **fields):
        self.cluster |= fields
        return self

    def write(self):
        self.path.write_text(yaml.safe_dump(self.config), "utf-8")

    def lint(self):
        """Run lint; returns the exit code and all output."""
        self.write()
        arguments = [
            "lint",
            "--context",
            CONTEXT,
            "--kubeconfig",
            str(self.path),
            "--timeout",
            "20",
        ]
        with (
            mock.patch.dict(os.environ, self.environment, clear=True),
            mock.patch.object(sys, "argv", ["policygen", *arguments]),
            pytest.raises(SystemExit) as stop,
        ):
            main.main()
        return stop.value.code, "".join(self.capfd.readouterr())

    def kubectl(self):
        """Whether kubectl gets in; None without one."""
        program = shutil.which("kubectl")
        if program is None:
            return None
        self.write()
        done = subprocess.run(
            [program, "--kubeconfig", self.path, "get", "ns", "--request-timeout=10s"],
            env=self.environment, capture_output=True, check=False, timeout=60,
        )  # fmt: skip
        return done.returncode == 0

    def gets_in(self):
        assert self.kubectl() in {None, True}
        code, said = self.lint()
        assert code == 0, said
        assert "objects; " in said
        assert "Warning" not in said
        return said

    def is_refused(self, code, *words):
        assert self.kubectl() in {None, False}
        found, said = self.lint()
        assert found == code, said
        for word in words:
            assert word in said
        if code == 2:
            assert len(said.splitlines()) == 1


@pytest.fixture
def way(bench, tmp_path, capfd):
    return Way(bench, tmp_path / "kubeconfig", capfd)


@pytest.fixture
def tunnel():
    with Tunnel().running() as running:
        yield running


@pytest.fixture
def far(bench):
    return f"{FAR}:{bench.ports['kube-apiserver']}"


# --- proxies ---------------------------------------------------------------------------------


def test_a_proxy_of_the_kubeconfig_is_used_with_any_no_proxy(way, tunnel, far):
    way.environment["NO_PROXY"] = "*"
    way.server(**{"proxy-url": tunnel.url, "server": far}).gets_in()
    assert set(tunnel.asked) == {far.removeprefix("https://")}


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy"])
def test_a_proxy_of_the_environment_is_taken(way, tunnel, far, name):
    way.environment[name] = tunnel.address  # a scheme is not needed
    way.server(server=far).gets_in()
    assert tunnel.asked


def test_no_proxy_and_this_machine_go_without(way, tunnel, far):
    way.environment["HTTPS_PROXY"] = tunnel.url
    way.gets_in()
    way.environment["NO_PROXY"] = ".svc,10.0.0.0/8"
    way.server(server=far).is_refused(3, f"the cluster at {far} could not be read")
    assert tunnel.asked == []


def test_a_proxy_gets_its_password(way, far):
    with Tunnel("me:p@ss").running() as tunnel:
        url = tunnel.url.replace("//", "//me:p%40ss@")
        way.server(**{"proxy-url": url, "server": far}).gets_in()
        way.server(**{"proxy-url": url.replace("p%40ss", "other")})
        way.is_refused(3, "407 Proxy Authentication Required")
        assert "other" not in way.lint()[1]


def test_a_socks_proxy_resolves_names_itself(way, tunnel, far):
    pytest.importorskip("socks")
    way.server(**{"proxy-url": tunnel.url.replace("http", "socks5"), "server": far}).gets_in()
    assert set(tunnel.asked) == {far.removeprefix("https://")}


@pytest.mark.parametrize("url", ["ftp://me:secret@127.0.0.1:1", "127.0.0.1:1", "http://"])
def test_an_invalid_proxy_is_reported(way, url):
    way.server(**{"proxy-url": url}).lint()
    code, said = way.lint()
    assert code == 2
    assert "is not a valid proxy URL; use http, https or socks5" in said
    assert "secret" not in said


# --- certificates ----------------------------------------------------------------------------


def test_a_server_is_verified_by_the_kubeconfig(way):
    del way.cluster["certificate-authority-data"]
    way.is_refused(3, "certificate verify failed")
    way.server(**{"insecure-skip-tls-verify": True}).gets_in()


def test_the_name_in_a_certificate_can_be_another(way, tunnel, far):
    way.server(**{"tls-server-name": "kubernetes"}).gets_in()
    way.server(**{"proxy-url": tunnel.url, "server": far}).gets_in()
    way.server(**{"tls-server-name": "other.example"}).is_refused(3, "certificate verify failed")


@pytest.mark.parametrize(
    "cluster, user, said",
    [
        ({"insecure-skip-tls-verify": True}, {}, "cannot be used together"),
        ({}, {"client-certificate": "tls.crt"}, "a client-certificate, but no client-key"),
        ({}, {"client-certificate": "tls.crt", "client-key": "gone.key"}, "gone.key"),
        ({}, {"client-certificate": "gone.crt", "client-key": "tls.key"}, "gone.crt"),
        ({}, {"client-certificate": "tls.crt", "client-key": "sa.key"}, "do not match"),
        ({"certificate-authority-data": "aGVsbG8="}, {}, "contains no certificate"),
        ({"server": ""}, {}, "has no URL"),
        ({}, {"auth-provider": {"name": "azure"}}, "no longer supports the auth-provider azure"),
    ],
)
def test_what_kubectl_refuses_is_refused(bench, way, cluster, user, said):
    keys = bench.state / "keys"
    if "client-certificate" in user:
        user = {key: str(keys / name) for key, name in user.items()}
    if cluster != {"server": ""}:  # where kubectl takes one on this machine
        way.server(**cluster).user(**user).is_refused(2, said)
    else:
        assert way.server(**cluster).lint()[0] == 2


# --- tokens ----------------------------------------------------------------------------------


def test_a_tokens_file_may_end_with_a_line_break(way, tmp_path):
    (tmp_path / "token").write_text(f"{TOKEN}\n", "utf-8")
    way.user(tokenFile="token").gets_in()


def test_a_tokens_file_that_changes_during_the_run_is_read_again(bench, way, tmp_path):
    """After half of the lists the old token is refused, as where its time is over."""
    (tmp_path / "token").write_text(f"{TOKEN}\n", "utf-8")
    old = threading.Event()

    def breaks(_):
        if len(proxy.asked) > 20 and not old.is_set():
            old.set()
            (tmp_path / "token").write_text(f"{OBSERVER_TOKEN}\n", "utf-8")
            return Fault(401)
        return None

    with Proxy(bench.server, bench.ca).running() as proxy:
        proxy.breaks = breaks
        way.cluster.clear()
        code, said = way.server(server=proxy.url).user(tokenFile="token").lint()
    assert (code, old.is_set()) == (0, True), said


def test_who_impersonates_another_reads_as_that_one(way):
    """The bench's observers may read everything, and other groups may read nothing."""
    me = way.config["users"][0]["user"]
    extra = {"example.com/why": ["night"]}
    groups = ["nobodies", "policygen:observers"]
    way.user(**me, **{"as": "x", "as-groups": groups, "as-user-extra": extra}).gets_in()
    way.user(**me, **{"as": "somebody", "as-groups": ["nobodies"]})
    way.is_refused(3, 'User "somebody" cannot list resource')
    way.user(**me, **{"as-groups": groups}).is_refused(
        2, "as-uid, as-groups or as-user-extra, but no user to impersonate"
    )


# --- logins by OpenID Connect ----------------------------------------------------------------


@pytest.fixture(scope="module")
def believed(bench):
    """An issuer, and the URL of an API server that believes it."""
    with (
        Issuer(bench.state / "keys").running() as issuer,
        bench.second_apiserver(
            f"--oidc-issuer-url={issuer.url}",
            f"--oidc-client-id={CLIENT}",
            f"--oidc-ca-file={bench.ca}",
            "--oidc-username-claim=sub",
            "--oidc-groups-claim=groups",
        ) as url,
    ):
        client = Client(url, issuer.id_token(), bench.ca.read_text("ascii"))
        end = time.monotonic() + 120  # it fetches the issuer's keys after some time
        while not client.get("/api/v1/namespaces").ok:
            assert time.monotonic() < end
            time.sleep(0.1)
        client.close()
        yield issuer, url


@pytest.fixture(scope="module", params=["", SECRET], ids=["public", "secret"])
def issued(believed, request):
    """The issuer, its URL, and the secret that it requires."""
    issuer, url = believed
    issuer.secret = request.param
    return issuer, url, request.param


@pytest.fixture
def login(issued, bench, way):
    """A way in whose user has logged in, but for the tokens."""
    issuer, url, secret = issued
    authority = base64.b64encode(bench.ca.read_bytes()).decode()
    config = {
        "idp-issuer-url": issuer.url,
        "client-id": CLIENT,
        "idp-certificate-authority-data": authority,
        **({"client-secret": secret} if secret else {}),
    }

    def made(**tokens):
        provider = {"name": "oidc", "config": config | copy.deepcopy(tokens)}
        return way.server(server=url).user(**{"auth-provider": provider})

    issuer.asked.clear()
    return made


def held(way):
    user = yaml.safe_load(way.path.read_text("utf-8"))["users"][0]["user"]
    return user["auth-provider"]["config"]


def test_a_login_that_lasts_is_used_and_nothing_is_written(issued, login):
    issuer, *_ = issued
    way = login(**{"id-token": issuer.id_token(60)})
    way.write()
    before = way.path.read_bytes()
    way.gets_in()
    assert way.path.read_bytes() == before
    assert issuer.asked == []


def test_a_login_that_ended_is_renewed_and_written_back(issued, login):
    issuer, *_ = issued
    refresh = issuer.refresh_token()
    way = login(**{"id-token": issuer.id_token(-60), "refresh-token": refresh})
    code, said = way.lint()
    assert code == 0, said
    assert [each["refresh_token"] for each in issuer.asked] == [refresh]
    new = held(way)
    assert new["refresh-token"] != refresh  # the first is used up
    assert new["idp-issuer-url"] == issuer.url
    assert way.path.with_name("kubeconfig.lock").exists() is False
    # kubectl goes on with what was written, and we do.
    way.config = yaml.safe_load(way.path.read_text("utf-8"))
    way.gets_in()
    assert len(issuer.asked) == 1


def test_a_login_that_ends_during_the_run_is_renewed(issued, login, bench):
    """The server refuses a token that has just ended; the lists that are left come with another."""
    issuer, url, _ = issued
    way = login(**{"id-token": issuer.id_token(13), "refresh-token": issuer.refresh_token()})

    def slow(asked):
        if asked.path == "/api/v1/nodes" and not asked.number:
            time.sleep(14)

    with Proxy(url, bench.ca).running() as proxy:
        proxy.breaks = slow
        way.server(server=proxy.url)
        code, said = way.lint()
    assert code == 0, said
    assert len(issuer.asked) == 1


@pytest.mark.parametrize(
    "tokens, said",
    [
        ({}, "the user has no id-token, and the user has no refresh-token; log in again"),
        ({"id-token": -60}, "and the user has no refresh-token; log in again"),
        ({"id-token": "no token"}, "and the user has no refresh-token; log in again"),
        (
            {"id-token": -60, "refresh-token": "used up"},
            "answered 400: invalid_grant the session has ended; log in again",
        ),
    ],
)
def test_a_login_that_cannot_be_renewed_is_reported(issued, login, tokens, said):
    issuer, *_ = issued
    if isinstance(tokens.get("id-token"), int):
        tokens = tokens | {"id-token": issuer.id_token(tokens["id-token"])}
    login(**tokens).is_refused(2, said)


def test_an_unverified_issuer_is_not_sent_a_refresh_token(issued, login):
    """The client itself would send it."""
    issuer, *_ = issued
    way = login(**{"id-token": issuer.id_token(-60), "refresh-token": issuer.refresh_token()})
    del way.config["users"][0]["user"]["auth-provider"]["config"]["idp-certificate-authority-data"]
    way.is_refused(2, "certificate verify failed")
    assert issuer.asked == []


def test_a_login_that_cannot_be_written_back_is_reported(issued, login, tmp_path):
    issuer, *_ = issued
    way = login(**{"id-token": issuer.id_token(-60), "refresh-token": issuer.refresh_token()})
    (tmp_path / "kubeconfig.lock").touch()  # as kubectl locks it
    code, said = way.lint()
    assert code == 2
    assert "kubeconfig.lock: File exists" in said


# --- exec plugins ----------------------------------------------------------------------------

V1 = "client.authentication.k8s.io/v1"


def answer(status, version=V1):
    return json.dumps({"apiVersion": version, "kind": "ExecCredential", "status": status})


@pytest.mark.parametrize(
    "program, said",
    [
        (None, "is not installed, or is not on PATH: brew install it"),
        ("exit(7)", "failed with exit code 7"),
        ("import sys; sys.exit('please\\nlog in')", "failed with exit code 1: please log in"),
        ("", "did not print JSON"),
        ("print('hello')", "did not print JSON"),
        ("print(5)", "did not print an ExecCredential"),
        ("print([])", "did not print an ExecCredential"),
        (f"print({answer(None)!r})", "did not print an ExecCredential"),
        (f"print({answer({})!r})", "did not print an ExecCredential"),
        (f"print({answer({'clientCertificateData': 'a'})!r})", "did not print an ExecCredential"),
        (
            f"print({answer({'token': TOKEN}, f'{V1}beta1')!r})",
            f"answers with apiVersion {V1}beta1, but the kubeconfig requests {V1}",
        ),
    ],
)
def test_a_plugin_that_does_not_answer_is_reported_in_a_line(way, program, said):
    plugin = {"apiVersion": V1, "interactiveMode": "Never", "installHint": "brew install it"}
    if program is None:
        plugin["command"] = "kubectl-login-that-is-not-there"
    else:
        plugin |= {"command": sys.executable, "args": ["-c", program]}
    way.user(exec=plugin).is_refused(2, "exec plugin", said)
