"""`policygen lint --context` beside raw list calls for the same bytes, on a real API server.

    python benchmarks/live_vs_lists.py [--nodes 2000] [--pods 20000] [--policies 1000] [--runs 3]

Fills an API server of the control-plane bench (etcd and API server only), then times in turn: the
whole lint; a loop that downloads the same lists in the same pages, as many at a time, and throws
them away; and the typed lists of the `kubernetes` client, for the record. Goal: at most 1.3 times
the downloads, and at most 300 MB.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby, islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from timing import in_turn, line  # noqa: E402 - beside this file

THREADS = 8
KUEUE = "kueue.x-k8s.io/v1beta2"
LISTS = (
    "/api/v1/pods",
    "/api/v1/nodes",
    "/api/v1/namespaces",
    "/api/v1/limitranges",
    "/api/v1/resourcequotas",
    "/apis/batch/v1/jobs",
    "/apis/apps/v1/deployments",
    "/apis/kueue.x-k8s.io/v1beta2/clusterqueues",
    "/apis/kueue.x-k8s.io/v1beta2/localqueues",
    "/apis/kueue.x-k8s.io/v1beta2/resourceflavors",
    "/apis/kueue.x-k8s.io/v1beta2/cohorts",
)


def objects(nodes: int, pods: int, policies: int) -> Iterator[dict[str, Any]]:
    """Nodes, then what is in namespaces, then pods: large ones, as clusters have them."""
    spaces = max(policies // 3, 1)
    yield made(KUEUE, "ResourceFlavor", "a100", spec={"nodeLabels": {"pool": "a100"}})
    yield from (made("v1", "Namespace", f"team-{i}") for i in range(spaces))
    for i in range(spaces):
        name = f"team-{i}"
        amounts = {"cpu": 96, "memory": "1000Gi", "nvidia.com/gpu": 8}
        quotas = [{"name": key, "nominalQuota": value} for key, value in amounts.items()]
        spec = {
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}},
            "resourceGroups": [
                {
                    "coveredResources": list(amounts),
                    "flavors": [{"name": "a100", "resources": quotas}],
                }
            ],
        }
        yield made(KUEUE, "ClusterQueue", name, spec=spec)
    for i in range(spaces):
        name = f"team-{i}"
        yield made(KUEUE, "LocalQueue", "a100", name, spec={"clusterQueue": name})
    for i in range(nodes):
        labels = {"pool": "a100"} | {f"feature.node.example.com/f{k}": "true" for k in range(30)}
        resources = {"cpu": "96", "memory": "1100Gi", "nvidia.com/gpu": "8", "pods": "110"}
        images = [
            {
                "names": [f"registry.example.com/team/image-{k}@sha256:{k:064x}"],
                "sizeBytes": 1 << 30,
            }
            for k in range(40)
        ]
        status = {"capacity": resources, "allocatable": resources, "images": images}
        yield {**made("v1", "Node", f"node-{i}", labels=labels), "status": status}
    environment = [{"name": f"SETTING_{k}", "value": "x" * 60} for k in range(20)]
    container = {
        "name": "main",
        "image": "registry.example.com/team/train:v1",
        "command": ["python", "-m", "train"],
        "env": environment,
        "resources": {"limits": {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": "1"}},
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }
    for i in range(pods):
        owner = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "name": "j",
            "uid": "u",
            "controller": True,
        }
        it = made(
            "v1",
            "Pod",
            f"worker-{i}",
            f"team-{i % spaces}",
            labels={"kueue.x-k8s.io/queue-name": "a100", "app": "train"},
            spec={
                "containers": [container],
                "nodeName": f"node-{i % nodes}",
                "volumes": [{"name": "data", "emptyDir": {}}],
            },
        )
        it["metadata"]["ownerReferences"] = [owner]
        yield it


def made(
    api_version: str, kind: str, name: str, namespace: str = "", **fields: Any
) -> dict[str, Any]:
    """An object; `labels` go to its metadata."""
    metadata: dict[str, Any] = {"name": name, "labels": fields.pop("labels", {})}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": {}, **fields}


def fill(kubeconfig: str, nodes: int, pods: int, policies: int) -> None:
    """Create everything, a kind after the other."""
    from tests.controlplane.client import Client  # noqa: PLC0415 - a process of its own

    client = Client.from_kubeconfig(Path(kubeconfig))
    with ThreadPoolExecutor(THREADS) as pool:
        for _, each in groupby(objects(nodes, pods, policies), lambda it: str(it["kind"])):
            while some := list(islice(each, 64 * THREADS)):
                list(pool.map(client.create, some))


def raw(kubeconfig: str) -> None:
    """Download the lists, in pages, as many at one time as lint does."""
    from policygen.cluster import pages  # noqa: PLC0415 - a process of its own
    from policygen.cluster.access import Access  # noqa: PLC0415 - likewise
    from policygen.cluster.live import WORKERS  # noqa: PLC0415 - likewise
    from policygen.cluster.requests import Deadline, Server  # noqa: PLC0415 - likewise

    server = Server(Access("policygen", Path(kubeconfig)), Deadline.after(600))
    mark = b'"continue":"'

    def download(path: str) -> None:
        token = ""
        while True:
            query = {"limit": str(pages.LIMIT)} | ({"continue": token} if token else {})
            head = server.get(path, query)[:2000]
            token = head.partition(mark)[2].partition(b'"')[0].decode() if mark in head else ""
            if not token:
                return

    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(download, LISTS))
    print(f"{server.requests} requests, {server.bytes / 2**20:.0f} MiB", file=sys.stderr)


def typed(kubeconfig: str) -> None:
    """The two longest lists, by the client that most programs use."""
    from kubernetes import client, config  # noqa: PLC0415 - a process of its own

    config.load_kube_config(kubeconfig)
    core = client.CoreV1Api()
    core.list_pod_for_all_namespaces()
    core.list_node()


def main() -> None:
    """Fill, time, print."""
    from tests.controlplane.bench import Bench, Options  # noqa: PLC0415 - only to run it
    from tests.controlplane.build import located  # noqa: PLC0415 - likewise
    from tests.controlplane.upstream import control_plane  # noqa: PLC0415 - likewise

    options = arguments()
    built = {it.name: located(it) for it in control_plane("")}
    with Bench(built, Options(parts=frozenset())) as bench:
        config = str(bench.kubeconfig)
        me = [sys.executable, __file__]
        # In a process of its own: the memory of a parent counts among its children's peaks.
        amounts = map(str, (options.nodes, options.pods, options.policies))
        subprocess.run([*me, "--fill", config, *amounts], check=True)
        lint = [sys.executable, "-m", "policygen", "lint", "--context", "policygen"]
        names = ("lint", "downloads", "typed lists")
        commands = (
            [*lint, "--kubeconfig", config],
            [*me, "--raw", config],
            [*me, "--typed", config],
        )
        timings = in_turn(commands[: 3 if options.record else 2], options.runs, codes=(0, 1))
        for name, timing in zip(names, timings, strict=False):
            print(line(name, timing))
        print(f"lint / downloads: {timings[0].median / timings[1].median:.2f} (goal 1.3)")


def arguments() -> argparse.Namespace:
    """How much, how often."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=2000)
    parser.add_argument("--pods", type=int, default=20000)
    parser.add_argument("--policies", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--record", action="store_true", help="time typed lists, too")
    return parser.parse_args()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--fill"]:
        fill(sys.argv[2], *map(int, sys.argv[3:]))
    elif sys.argv[1:2] == ["--raw"]:
        raw(sys.argv[2])
    elif sys.argv[1:2] == ["--typed"]:
        typed(sys.argv[2])
    else:
        main()
