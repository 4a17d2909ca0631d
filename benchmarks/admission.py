"""Measures what the admission policies cost a request: `python -m benchmarks.admission`.

It starts an API server, applies the policies of examples/three-schedulers, and creates pods in dry runs,
in a namespace with the policies and in one without, in turn. It prints the median of the time that the API
server spends in ValidatingAdmissionPolicies for one pod, from the server's own metrics, and the ratio of the
complete time of a request. Needs the servers of `python -m tests.servers build`.
"""

from __future__ import annotations

import argparse
import re
import statistics
import time
from pathlib import Path

from tests.servers.apply import Applier, parse
from tests.servers.bench import Bench, Options
from tests.servers.build import build
from tests.servers.client import Client, Object
from tests.servers.rendering import rendered
from tests.servers.upstream import control_plane
from tests.servers.workloads import Ask, pod

SPEC = Path(__file__).parents[1] / "examples" / "three-schedulers" / "policy.yaml"
NAMESPACE, OUTSIDE = "product-live", "without-policies"
NODES = {"key": "pool", "operator": "Equal", "value": "serving-l4", "effect": "NoSchedule"}
MODEL = Ask(
    scheduler="mixed.binpack",
    priority="serving.preempting",
    node_selector={"pool": "serving-l4"},
    tolerations=[NODES],
    labels={"policygen.dev/model": "assistant"},
)
PODS = {"pod of a model": MODEL, "pod without GPUs": Ask(gpus=0, cpu="1")}
METRIC = re.compile(
    r'^apiserver_admission_controller_admission_duration_seconds_(sum|count)\{name="Validating'
    r'AdmissionPolicy",operation="CREATE",rejected="false",type="validate"\} (\S+)$',
    re.MULTILINE,
)
READY_S = 30.0


def main() -> None:
    """Print one line for each kind of pod."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20, help="rounds of each kind of pod (20)")
    parser.add_argument("--requests", type=int, default=20, help="requests of a round (20)")
    options = parser.parse_args()
    out = rendered(SPEC.read_text("utf-8"), "admission")
    wanted = ("Namespace", "PriorityClass", "ConfigMap", "ValidatingAdmission")
    with Bench(build(control_plane()), Options(parts=frozenset())) as bench:
        client = bench.client
        documents = [
            it for it in parse(out.text, "manifests") if it.thing["kind"].startswith(wanted)
        ]
        Applier(client, create_namespaces=True, jobs=1, retry_s=READY_S).apply_all(documents)
        client.request(
            "POST",
            "/api/v1/namespaces",
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": OUTSIDE}},
        )
        _wait(client)
        for name, ask in PODS.items():
            print(f"{name}: {_compare(client, ask, options.rounds, options.requests)}")


def _wait(client: Client) -> None:
    end = time.monotonic() + READY_S
    while " needs [" not in _created(client, pod("bad", NAMESPACE, Ask())):
        if time.monotonic() > end:
            raise SystemExit("the policies are not in force")


def _created(client: Client, thing: Object) -> str:
    path = f"/api/v1/namespaces/{thing['metadata']['namespace']}/pods"
    answer = client.request("POST", path, thing, query={"dryRun": "All"})
    return "" if answer.ok else answer.message


def _compare(client: Client, ask: Ask, rounds: int, requests: int) -> str:
    policies: dict[str, list[float]] = {NAMESPACE: [], OUTSIDE: []}
    complete: dict[str, list[float]] = {NAMESPACE: [], OUTSIDE: []}
    for _ in range(rounds):
        for namespace in (NAMESPACE, OUTSIDE):
            thing = pod("measured", namespace, ask)
            before, began = _spent(client), time.perf_counter()
            for _ in range(requests):
                if message := _created(client, thing):
                    raise SystemExit(message)
            complete[namespace].append((time.perf_counter() - began) / requests)
            after = _spent(client)
            policies[namespace].append((after[0] - before[0]) / (after[1] - before[1]))
    inside, outside = (statistics.median(policies[it]) * 1000 for it in (NAMESPACE, OUTSIDE))
    ratio = statistics.median(complete[NAMESPACE]) / statistics.median(complete[OUTSIDE])
    return (
        f"{inside:.2f} ms in policies, {outside:.2f} ms without them (least {min(policies[NAMESPACE]) * 1000:.2f} ms); "
        f"a request takes {ratio:.2f} times as long"
    )


def _spent(client: Client) -> tuple[float, float]:
    """Seconds in ValidatingAdmissionPolicies, and requests, since the server started."""
    answer = client.request("GET", "/metrics", accept="text/plain")
    found = {name: float(value) for name, value in METRIC.findall(answer.message)}
    return found.get("sum", 0.0), found.get("count", 0.0)


if __name__ == "__main__":
    main()
