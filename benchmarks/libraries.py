"""What libraries do in place of our own code: the numbers of "What we write ourselves" in docs/design.md.

    python benchmarks/libraries.py [ROW ...]

Rows: edits names retries login plugin proxies authority pods reports. They take rapidfuzz, ruamel.yaml,
sarif-pydantic and the program openssl. What is shown is what the libraries do that are installed.
"""

import base64
import importlib.util
import io
import json
import os
import random
import re
import socketserver
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))  # it takes servers and drawn texts of the tests

from tests import kubeconfigs, loopback  # noqa: E402 - as above

EXEC = "client.authentication.k8s.io/v1"


def show(what: str, result: object) -> None:
    """Print one result."""
    print(f"{what}: {result}", flush=True)


def within(seconds: float, act: Callable[[], object]) -> object:
    """The result of `act`, its exception, or that it did not end in time."""
    results: list[object] = []

    def run() -> None:
        try:
            results.append(act())
        except Exception as error:  # noqa: BLE001 - the result is what a library raises
            results.append(type(error).__name__)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    return results[0] if results else f"still busy after {seconds:.0f} s"


def certificate(folder: Path, name: str, issuer: str = "", extension: str = "") -> tuple[str, str]:
    """Files of a new certificate and its key; without an issuer it signs itself."""
    made, key = folder / f"{name}.crt", folder / f"{name}.key"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}"]
    command += [
        "-keyout",
        str(key),
        "-out",
        str(made),
        "-days",
        "1",
        "-addext",
        extension or "nsComment=x",
    ]
    if issuer:
        command += ["-CA", str(folder / f"{issuer}.crt"), "-CAkey", str(folder / f"{issuer}.key")]
    subprocess.run(command, check=True, capture_output=True)
    return str(made), str(key)


def https(respond: loopback.Respond, files: tuple[str, str]) -> loopback.Loopback:
    """A server with a certificate."""
    server = loopback.http(respond)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*files)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    return loopback.Loopback(server)


def edits() -> None:
    """ruamel.yaml: read and write files without a change."""
    from hypothesis import HealthCheck, Phase, given, settings  # noqa: PLC0415 - only this row
    from ruamel.yaml import YAML  # noqa: PLC0415 - as above
    from ruamel.yaml.util import load_yaml_guess_indent  # noqa: PLC0415 - as above

    from policygen.documents.edit.comments import comments  # noqa: PLC0415 - as above

    def written(text: str) -> str:
        reader = YAML()
        reader.preserve_quotes, reader.width = True, 1 << 20
        reader.explicit_start = text.startswith("---")
        with suppress(IndexError):  # it cannot guess all
            _, indent, offset = load_yaml_guess_indent(text.partition("\n---\n")[0])
            reader.indent(mapping=2, sequence=indent or 2, offset=offset or 0)
        out = io.StringIO(newline="")
        reader.dump_all(list(reader.load_all(text)), out)
        return out.getvalue()

    files = [it for it in ROOT.rglob("*.yaml") if ".venv" not in it.parts]
    texts = [it.read_text("utf-8") for it in files]
    began = time.process_time()
    same = sum(written(text) == text for text in texts)
    speed = sum(map(len, texts)) / (time.process_time() - began) / 1000
    show("YAML files of this repository that stay as they are", f"{same} of {len(texts)}")
    show("kB a second", round(speed))

    path = ROOT / "tests" / "documents" / "edit" / "test_rewrite.py"
    spec = importlib.util.spec_from_file_location("layouts", path)
    assert spec is not None
    assert spec.loader is not None
    tests = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tests)
    seen: Counter[str] = Counter()

    @settings(
        max_examples=1000, deadline=None, database=None, derandomize=True,
        suppress_health_check=list(HealthCheck), phases=[Phase.generate],
    )  # fmt: skip
    @given(tests.cases())
    def draw(case: tuple[object, str]) -> None:
        text = case[1]
        seen["drawn"] += 1
        try:
            after = written(text)
        except Exception:  # noqa: BLE001 - the result is what a library raises
            seen["refused"] += 1
            return
        seen["same but for a final line break"] += after.rstrip("\n") == text.rstrip("\n")
        seen["other comments"] += Counter(comments(text)) != Counter(comments(after))
        seen["CRLF lost"] += "\r\n" in text and "\r\n" not in after

    draw()
    show("texts that the tests draw", dict(seen))


def names() -> None:
    """Rapidfuzz beside difflib: the nearest of a schema's words, each with a slip."""
    from rapidfuzz import process  # noqa: PLC0415 - only this row
    from rapidfuzz.distance import Indel  # noqa: PLC0415 - as above

    draw = random.Random(1)
    text = "".join(it.read_text("utf-8") for it in (ROOT / "schemas").rglob("*.json"))
    words = sorted(set(re.findall(r'"([a-zA-Z]{3,30})": ?\{', text)))
    for count in (30, 100, len(words)):
        known = draw.sample(words, count)
        asked = []
        for word in draw.choices(known, k=1000):
            at = draw.randrange(len(word))
            asked.append(word[:at] + draw.choice(["", "x", "x" + word[at]]) + word[at + 1 :])
        began = time.process_time()
        ours = [max(get_close_matches(it, known, 1), default="") for it in asked]
        between = time.process_time()
        other = [
            process.extractOne(it, known, scorer=Indel.normalized_similarity, score_cutoff=0.6)
            for it in asked
        ]
        times = [(between - began) * 1000, (time.process_time() - between) * 1000]
        differ = sum(a != (b[0] if b else "") for a, b in zip(ours, other, strict=True))
        told = "difflib {:.0f} us and rapidfuzz {:.0f} us a word".format(*times)
        show(f"1,000 slips among {count} words", f"{differ} answers differ; {told}")


def retries() -> None:
    """urllib3.Retry: an answer that is cut off, one that trickles, and Retry-After."""
    import urllib3  # noqa: PLC0415 - only this row

    asked: list[str] = []

    class Answers(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            path = self.rfile.readline().decode().split()[1]
            while self.rfile.readline().strip():
                pass
            asked.append(path)
            head = (
                "503 Busy\r\nRetry-After: 30\r\nContent-Length: 0" if path == "/later" else "200 OK"
            )
            head = f"HTTP/1.1 {head}\r\n" + ("" if path == "/later" else "Content-Length: 99\r\n")
            self.wfile.write(f"{head}\r\n{'' if path == '/later' else 'x'}".encode())
            while path == "/trickle":
                time.sleep(0.5)
                self.wfile.write(b"x")

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            pass

    policy = urllib3.Retry(total=4, backoff_factor=0.05, status_forcelist=[503])
    limit = urllib3.Timeout(total=1)
    with loopback.Loopback(Server(("127.0.0.1", 0), Answers)).running() as server:
        for path, preload in (
            ("/cut", False),
            ("/cut", True),
            ("/trickle", True),
            ("/later", True),
        ):
            asked.clear()

            def ask(path: str = path, *, preload: bool = preload) -> int:
                pool = urllib3.PoolManager(retries=policy, timeout=limit)
                return len(pool.request("GET", server.url + path, preload_content=preload).data)

            how = "read at once" if preload else "as a stream"
            told = within(6, ask)
            show(f"{path}, {how}, timeout of 1 s", f"{told}, asked {len(asked)} times")


def load(
    folder: Path, user: Mapping[str, Any], server: str = "https://127.0.0.1:9", **more: Any
) -> Any:
    """The `kubernetes` client's configuration of a kubeconfig."""
    from kubernetes import client, config  # noqa: PLC0415 - only where it is asked

    made = client.Configuration()
    path = kubeconfigs.write(folder / "config", server, dict(user), **more)
    config.load_kube_config(str(path), context="x", client_configuration=made)
    made.retries = False
    return made


def login(folder: Path) -> None:
    """The kubernetes client: a login by OpenID Connect with an issuer whose certificate is not trusted."""
    posted: list[str] = []

    def answer(request: BaseHTTPRequestHandler) -> None:
        size = int(request.headers.get("content-length", 0))
        posted.append(request.rfile.read(size).decode())
        loopback.send(request, json.dumps({"token_endpoint": thief.url + "/token"}).encode())

    def issuer_answer(request: BaseHTTPRequestHandler) -> None:
        loopback.send(request, json.dumps({"token_endpoint": f"https://{thief.address}/"}).encode())

    name = "subjectAltName=IP:127.0.0.1"
    trusted = certificate(folder, "trusted", extension=name)
    os.environ["REQUESTS_CA_BUNDLE"] = trusted[0]
    ended = base64.urlsafe_b64encode(b'{"exp":1}').decode().rstrip("=")
    untrusted = https(issuer_answer, certificate(folder, "untrusted", extension=name))
    with https(answer, trusted).running() as thief, untrusted.running() as issuer:
        settings = {
            "idp-issuer-url": f"https://{issuer.address}", "client-id": "i", "client-secret": "s",
            "id-token": f"e30.{ended}.x", "refresh-token": "PRECIOUS",
        }  # fmt: skip
        user = {"auth-provider": {"name": "oidc", "config": settings}}
        within(20, lambda: load(folder, user))
        del settings["client-secret"]
        without = within(20, lambda: load(folder, user))
    sent = any("PRECIOUS" in it for it in posted)
    show("refresh token sent where an issuer without a valid certificate says", sent)
    show("the same without a client secret, which is optional", without)


def plugin(folder: Path) -> None:
    """The kubernetes client: an exec plugin that hangs, and where one runs."""
    pid = folder / "pid"

    def user(script: str) -> dict[str, Any]:
        command = {"command": "sh", "args": ["-c", script], "interactiveMode": "Never"}
        return {"exec": {"apiVersion": EXEC, **command}}

    hangs = user(f"sleep 60 & echo $! > {pid}; wait")
    show("a plugin that hangs", within(6, lambda: load(folder, hangs)))
    os.kill(int(pid.read_text()), 9)
    status = '{"apiVersion":"%s","kind":"ExecCredential","status":{"token":"\'$PWD\'"}}'
    made = load(folder, user(f"echo '{status % EXEC}'"))
    where = made.auth_settings()["BearerToken"]["value"]
    show("a plugin runs in the kubeconfig's folder, and not in the user's", str(folder) in where)
    acting = load(folder, {"token": "t", "as": "other"})
    show(
        "headers of a user that acts as another",
        [it["key"] for it in acting.auth_settings().values()],
    )


def proxies(folder: Path) -> None:
    """The kubernetes client: which proxy it takes, where kubectl takes another."""
    from kubernetes import client  # noqa: PLC0415 - only this row

    met: list[str] = []

    class Proxy(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            lines = [self.rfile.readline().decode().strip()]
            while lines[-1]:
                lines.append(self.rfile.readline().decode().strip())
            passwords = [it for it in lines if it.lower().startswith("proxy-authorization")]
            met.append(f"asked with {'a' if passwords else 'no'} password")
            self.wfile.write(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")

    with loopback.Loopback(socketserver.TCPServer(("127.0.0.1", 0), Proxy)).running() as proxy:
        for what, environment, server, more in (
            ("proxy-url and NO_PROXY (kubectl: proxy)", {"NO_PROXY": "192.0.2.9"}, "192.0.2.9", {"proxy_url": proxy.url}),
            ("HTTPS_PROXY with a password", {"HTTPS_PROXY": f"http://u:p@{proxy.address}"}, "192.0.2.9", {}),
            ("HTTPS_PROXY, server on 127.0.0.1 (kubectl: none)", {"HTTPS_PROXY": proxy.url}, "127.0.0.1", {}),
        ):  # fmt: skip
            met.clear()
            os.environ.update(environment)
            made = load(folder, {"token": "t"}, f"https://{server}:9", **more)
            ask = client.VersionApi(client.ApiClient(made)).get_code
            within(5, lambda ask=ask: ask(_request_timeout=1))
            show(what, met or "proxy not asked")
            for name in environment:
                del os.environ[name]


def authority(folder: Path) -> None:
    """The kubernetes client: an intermediate authority in place of a root, which kubectl accepts."""
    from kubernetes import client  # noqa: PLC0415 - only this row

    from policygen.client.access import Access  # noqa: PLC0415 - as above

    certificate(folder, "root")
    signed, _ = certificate(folder, "intermediate", "root", "keyUsage=keyCertSign")
    files = certificate(folder, "server", "intermediate", "subjectAltName=IP:127.0.0.1")

    def answer(request: BaseHTTPRequestHandler) -> None:
        loopback.send(request, b'{"major": "1", "minor": "33", "gitVersion": "v1.33.0"}')

    with https(answer, files).running() as server:
        url = f"https://{server.address}"
        made = load(folder, {"token": "t"}, url, certificate_authority=signed)
        show("the client", within(9, client.VersionApi(client.ApiClient(made)).get_code))
        way = Access("x", folder / "config")
        show("policygen", way.pool.request("GET", f"{url}/version").status)


def pods() -> None:
    """The kubernetes client: decode a list of 5,000 pods."""
    from kubernetes import client  # noqa: PLC0415 - only this row

    from policygen.client import pages, pod_lists  # noqa: PLC0415 - as above
    from policygen.client.discovery import Resource  # noqa: PLC0415 - as above
    from policygen.client.requests import Answer  # noqa: PLC0415 - as above

    requests = {"requests": {"cpu": "4", "memory": "32Gi", "nvidia.com/gpu": "1"}}
    env = [{"name": f"E{number}", "value": "v"} for number in range(12)]
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u", "controller": True}
    condition = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-21T03:00:00Z"}
    items = [
        {
            "metadata": {"name": f"p{number}", "namespace": "a", "ownerReferences": [owner], "annotations": {"x": "y" * 200}},
            "spec": {"containers": [{"name": "c", "image": "i", "resources": requests, "env": env}]},
            "status": {"phase": "Running", "conditions": [condition] * 4},
        }
        for number in range(5000)
    ]  # fmt: skip
    body = json.dumps({"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": items})
    began = time.process_time()
    client.ApiClient().deserialize(body, "V1PodList", "application/json")
    between = time.process_time()
    answer = Answer(body.encode(), packed=False)
    request = pages.ListRequest(Resource("", "v1", "Pod", "pods", namespaced=True))
    pages.items(lambda *_, **__: answer, request, pod_lists.ListedPod, pod_lists.Pods().row)
    times = (between - began, time.process_time() - between)
    show(f"{len(body) / 1e6:.0f} MB", "the client {:.1f} s, policygen {:.2f} s".format(*times))


def reports() -> None:
    """sarif-pydantic: what it takes to import, and whether it refuses a field that SARIF has not."""
    from sarif_pydantic import sarif  # noqa: PLC0415 - only this row

    command = [sys.executable, "-X", "importtime", "-c", "import sarif_pydantic"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    show("import of sarif-pydantic", f"{int(told.splitlines()[-1].split('|')[1]) // 1000} ms")
    made = sarif.Result(message=sarif.Message(text="a"), levl="error", ruelId="b")
    show("a result with misspelt fields", made.model_dump_json(exclude_none=True))
    half = sarif.Message(text="\ud800")
    show("half a surrogate pair", within(5, lambda: half.model_dump_json(exclude_none=True)))


ROWS: dict[str, Callable[..., None]] = {
    it.__name__: it
    for it in (edits, names, retries, login, plugin, proxies, authority, pods, reports)
}


def main(wanted: Sequence[str]) -> None:
    """Show some rows, or all."""
    warnings.simplefilter("ignore")  # of certificates that are not verified, on purpose
    for name in wanted or ROWS:
        print(f"\n{name}: {(ROWS[name].__doc__ or '').strip()}")
        if ROWS[name].__code__.co_argcount:
            with tempfile.TemporaryDirectory() as folder:
                ROWS[name](Path(folder))
        else:
            ROWS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
