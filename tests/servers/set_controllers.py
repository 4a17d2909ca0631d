"""The controllers of JobSets and LeaderWorkerSets on the bench, and Kueue with its webhooks for both."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import yaml

from tests.servers import kueue
from tests.servers.build import Built
from tests.servers.client import Object
from tests.servers.cluster import Cluster
from tests.servers.ports import free_ports
from tests.servers.process import answers
from tests.servers.test_other_tools import install
from tests.servers.upstream import JOB_SET, LEADER_WORKER_SET, Upstream

START_S = 60.0
CONTROLLERS = {
    JOB_SET: ("config.jobset.x-k8s.io/v1alpha1", "jobset.sigs.k8s.io/jobset-name"),
    LEADER_WORKER_SET: ("config.lws.x-k8s.io/v1alpha1", "leaderworkerset.sigs.k8s.io/name"),
}
"""The version of the Configuration of each, and the label of the pods for which its webhooks are."""
GROUPS = frozenset({"jobset.x-k8s.io", "leaderworkerset.x-k8s.io"})


@contextmanager
def set_controllers(cluster: Cluster, built: Mapping[str, Built]) -> Iterator[None]:
    """Run both controllers. Kueue starts again, because it looks for the CRDs only then."""
    install(cluster, built, *CONTROLLERS)
    bench = cluster.bench
    ca = base64.b64encode(bench.ca.read_bytes()).decode()
    of_kueue = f"https://127.0.0.1:{bench.ports['kueue-webhook']}"
    hooks = [*kueue.webhooks(bench.built["kueue"], of_kueue, ca, GROUPS)]
    for it in hooks:
        it["metadata"]["name"] += "-of-sets"
    for upstream in CONTROLLERS:
        webhook, health = free_ports(2)
        _run(cluster, built[upstream.name], webhook, health)
        hooks += _webhooks(built[upstream.name], f"https://127.0.0.1:{webhook}", ca)
    configuration = bench.built["kueue"].asset(kueue.CONFIGURATION).read_text("utf-8")
    try:
        with cluster.kueue(configuration):
            cluster.create(*hooks)
            try:
                yield
            finally:
                for it in hooks:
                    cluster.delete(it["apiVersion"], it["kind"], it["metadata"]["name"])
    finally:
        bench.end(*(it.name for it in CONTROLLERS))


def _run(cluster: Cluster, built: Built, webhook: int, health: int) -> None:
    bench, name = cluster.bench, built.upstream.name
    version, _ = CONTROLLERS[built.upstream]
    configuration = {
        "apiVersion": version,
        "kind": "Configuration",
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "webhook": {"host": "127.0.0.1", "port": webhook, "certDir": str(bench.state / "keys")},
        "metrics": {"bindAddress": "0"},
        "health": {"healthProbeBindAddress": f"127.0.0.1:{health}"},
    }
    path = bench.state / f"{name}.json"
    path.write_text(json.dumps(configuration), "utf-8")
    process = bench.run(name, [built.binary(name), f"--config={path}"])
    url = f"http://127.0.0.1:{health}/readyz"
    process.wait_until(lambda: answers(url), START_S)


def _webhooks(built: Built, url: str, ca_bundle: str) -> Iterator[Object]:
    """The webhook configurations of a controller, as its kustomization would install them."""
    _, label = CONTROLLERS[built.upstream]
    upstream: Upstream = built.upstream
    manifests = built.asset(upstream.assets[-1]).read_bytes()
    for configuration in yaml.load_all(manifests, Loader=yaml.CSafeLoader):
        for hook in configuration["webhooks"]:
            path = hook["clientConfig"]["service"]["path"]
            hook["clientConfig"] = {"url": url + path, "caBundle": ca_bundle}
            if "pods" in hook["rules"][0]["resources"]:
                expression = {"key": label, "operator": "Exists"}
                hook["objectSelector"] = {"matchExpressions": [expression]}
        configuration["metadata"]["name"] = f"{upstream.name}-{configuration['metadata']['name']}"
        yield configuration
