"""`policygen lint --context` compared with a bare download of the same lists, on a real API server.

    python benchmarks/lint_live.py [--nodes 2000] [--pods 20000] [--policy 1000] [--runs 5]
                                   [--replay 10] [--pages FILE] [--unpaced]

Starts etcd and the API server of the bench, fills them, and times these processes in turn: lint of
the spec that was rendered into the cluster; and `raw_lists.py`, which downloads the same pages with
the same concurrency and does not decode them. `typed_lists.py`, which decodes the same lists with
the `kubernetes` client, runs once, for the record.

With --replay N, a server on loopback sends the recorded pages, those of pods N times. No response
comes sooner than the real server sent it; with --unpaced, all come as fast as possible. With
--pages, the pages are read from that file, without a bench, or written to it if it does not exist.
"""

import argparse
import base64
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import replay
import specs
import yaml
from live_cluster import fill
from replay import Answer
from timing import ENVIRONMENT, in_turn, line

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # the bench is part of the tests

from policygen.app import inputs, lint  # noqa: E402 - after the line above, as the bench
from policygen.app.requests import LintRequest  # noqa: E402 - as above
from policygen.client import access, live, requests, snapshot_file  # noqa: E402 - as above
from tests.servers.bench import CONTEXT, TOKEN, Bench, Options  # noqa: E402 - as above
from tests.servers.build import build  # noqa: E402 - as above
from tests.servers.client import Client  # noqa: E402 - as above
from tests.servers.installed import deployments  # noqa: E402 - as above
from tests.servers.upstream import CONTROL_PLANE  # noqa: E402 - as above

BOUND, BOUND_MIB = 1.3, 300.0
ROUNDS = 3
"""How often each page is timed."""
FOUND = (0, 1)
"""Exit codes of a lint that could read everything."""


class Noting(requests.Server):
    """Keeps what is asked, in order, once for each list."""

    asked: dict[tuple[str, ...], Answer]

    def fetch(
        self,
        path: str,
        query: Any = None,
        accept: str = requests.JSON,
        on_begin: requests.OnBegin | None = None,
    ) -> requests.Answer:
        """Like `fetch` of the base class, but also records the response."""
        own = {key: value for key, value in (query or {}).items() if key != "continue"}
        body = super().fetch(path, query, accept, on_begin)
        kind = json.loads(body.whole()).get("kind", "").removesuffix("List")
        answer = Answer(path, own, accept, kind, [], [])
        self.asked.setdefault(answer.key, answer)
        return body


def recorded(spec: Path, kubeconfig: Path) -> list[Answer]:
    """All that lint gets of a cluster, page by page, and how long each took by itself."""
    way = access.Access(CONTEXT, kubeconfig)
    server = Noting(way, requests.Deadline.after(600))
    server.asked = {}
    query = lint.cluster_query(inputs.prepare(LintRequest(specs=(str(spec),))))
    with live.begin(server, query) as begun:
        looked = begun.finish(snapshot_file.now())
    assert not looked.seen.gaps, looked.seen.gaps
    answers = list(server.asked.values())
    for _ in range(ROUNDS):
        for answer in answers:
            _download(requests.Server(way, requests.Deadline.after(600)), answer)
    return answers


def _download(server: requests.Server, answer: Answer) -> None:
    query, index = dict(answer.query), 0
    while True:
        began = time.perf_counter()
        body = server.get(answer.path, query, answer.accept)
        took = time.perf_counter() - began
        if index == len(answer.pages):
            answer.pages.append(body)
            answer.seconds.append(took)
        answer.seconds[index] = min(took, answer.seconds[index])
        index += 1
        token = json.loads(body).get("metadata", {}).get("continue")
        if "limit" not in query or not token:
            return
        query["continue"] = token


def make(spec: Path, kubeconfig: Path, pages: Path, nodes: int, pods: int) -> None:
    """Fill a cluster and record it.

    In a process of its own, since the peak memory of one counts as that of all that it starts.
    """
    command = [sys.executable, "-m", "policygen", "render", str(spec)]
    text = subprocess.run(command, capture_output=True, check=True, env=ENVIRONMENT).stdout
    rendered = [it for it in yaml.load_all(text, yaml.CSafeLoader) if it]
    began = time.monotonic()
    fill(Client.from_kubeconfig(kubeconfig), [*rendered, *deployments()], nodes, pods)
    print(f"filled in {time.monotonic() - began:.0f} s", file=sys.stderr)
    keep(recorded(spec, kubeconfig), pages)


def keep(answers: list[Answer], pages: Path) -> None:
    """Write what was recorded, and beside it what was asked."""
    replay.save(answers, pages)
    asked = [
        {"path": it.path, "query": it.query, "accept": it.accept, "kind": it.kind} for it in answers
    ]
    beside(pages).write_text(json.dumps(asked), "utf-8")


def beside(pages: Path) -> Path:
    """The file with the requests of which the recorded pages are the answers."""
    return pages.with_name(f"{pages.name}.json")


@contextmanager
def replayed(folder: Path, pages: Path, factor: int, *, pace: bool) -> Iterator[Path]:
    """A server that replays: its kubeconfig."""
    command = [sys.executable, str(ROOT / "benchmarks" / "replay.py"), str(pages), str(factor)]
    command += ["--pace"] if pace else []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            host = process.stdout.readline().strip()
            path = folder / "kubeconfig"
            path.write_text(_kubeconfig(host), "ascii")
            yield path
        finally:
            process.terminate()


def _kubeconfig(host: str) -> str:
    context = {"cluster": "c", "user": "u"}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": host}}],
        "users": [{"name": "u", "user": {"token": TOKEN}}],
        "contexts": [{"name": CONTEXT, "context": context}],
        "current-context": CONTEXT,
    }
    return yaml.safe_dump(config)


def compare(spec: Path, kubeconfig: Path, pages: Path, runs: int, *, typed: bool) -> None:
    """Time lint and its peers, and print the ratio."""
    wanted = spec.with_name("requests.json")
    server = yaml.safe_load(kubeconfig.read_text("utf-8"))["clusters"][0]["cluster"]
    ca = spec.with_name("ca.crt")
    if "certificate-authority-data" in server:
        ca.write_bytes(base64.b64decode(server["certificate-authority-data"]))
    given = {
        "host": server["server"],
        "ca": str(ca) if ca.exists() else None,
        "token": TOKEN,
        "workers": live.WORKERS,
        "encoding": requests.ENCODING,
        "requests": json.loads(beside(pages).read_text("utf-8")),
    }
    wanted.write_text(json.dumps(given), "utf-8")
    lint = [sys.executable, "-m", "policygen", "lint", "--context", CONTEXT]
    lint += ["--kubeconfig", str(kubeconfig), str(spec)]
    ended = subprocess.run(lint, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    print((ended.stdout + ended.stderr).strip().rpartition("\n")[2])
    peer, other = (
        [sys.executable, str(ROOT / "benchmarks" / name), str(wanted)]
        for name in ("raw_lists.py", "typed_lists.py")
    )
    done = subprocess.run(peer, capture_output=True, text=True, check=True, env=ENVIRONMENT)
    print(f"{int(done.stdout) / 1e6:.0f} MB in lists, {live.WORKERS} requests at a time")
    ours, raw = in_turn([lint, peer], runs, FOUND)
    print(line("policygen lint", ours))
    print(line("raw lists", raw))
    if typed:
        (objects,) = in_turn([other], 1)
        print(line("kubernetes, typed lists", objects))
    ratios = [a / b for a, b in zip(ours.wall, raw.wall, strict=True)]
    print(f"ratio lint / raw lists: {ours.median / raw.median:.2f}", end="")
    print(f" ({min(ratios):.2f} to {max(ratios):.2f}); wanted at most {BOUND:g}")
    if typed:  # the bound is for this size
        print(f"peak {ours.peak_mib:.0f} MiB; wanted at most {BOUND_MIB:g} MiB")


def main() -> None:
    """Time lint on the bench, and with a replay if the options request one."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--nodes", type=int, default=2_000)
    arguments.add_argument("--pods", type=int, default=20_000)
    arguments.add_argument("--policy", type=int, default=1_000)
    arguments.add_argument("--runs", type=int, default=5)
    arguments.add_argument("--replay", type=int, default=0, metavar="FACTOR")
    arguments.add_argument("--unpaced", action="store_true")
    arguments.add_argument("--pages", type=Path)
    arguments.add_argument("--make", nargs=2, type=Path, help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.make:
        make(*given.make, given.pages, given.nodes, given.pods)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spec = folder / "spec.yaml"
        spec.write_text(specs.spec(given.policy), "utf-8")
        pages = given.pages or folder / "pages"
        if not pages.exists():
            built = build(each for each in CONTROL_PLANE if each.name != "kwok")
            with Bench(built, Options(parts=frozenset())) as bench:
                filling = [sys.executable, __file__, "--make", str(spec), str(bench.kubeconfig)]
                filling += ["--pages", str(pages)]
                filling += ["--nodes", str(given.nodes), "--pods", str(given.pods)]
                subprocess.run(filling, check=True, env=ENVIRONMENT)
                compare(spec, bench.kubeconfig, pages, given.runs, typed=True)
        if given.replay:
            print(f"replayed with {given.replay} times the pods")
            with replayed(folder, pages, given.replay, pace=not given.unpaced) as kubeconfig:
                compare(spec, kubeconfig, pages, given.runs, typed=False)


if __name__ == "__main__":
    main()
