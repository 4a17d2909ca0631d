"""Kueue's Configuration of resources, and what it does not count because of it."""

from __future__ import annotations

import yaml

from tests.servers.client import Object
from tests.servers.cluster import Cluster
from tests.servers.pages import bad, good
from tests.servers.proofs.examples import configuration, scene, show
from tests.servers.proofs.test_workload_passes_by import reserved
from tests.servers.scenes import messages
from tests.servers.workloads import GPU, Ask, job

PREFIX, INPUT = "quota-resource-excluded", "transformation-input-excluded"
NOT_COUNTED, CLAIM = "gpu-request-not-counted", "resource-claim-not-supported"
MIG, GIB = "nvidia.com/mig-1g.5gb", "nvidia.com/gpu.memory-gib"
SIXTEEN = Ask(gpus=16, cpu="8", memory="64Gi")
"""Twice what the pages' queues have."""
SLICE = Ask(gpus=2, resource=MIG, cpu="8", memory="64Gi")
DEVICES: Object = {
    "resources": {"deviceClassMappings": [{"name": GPU, "deviceClassNames": ["gpu.example.com"]}]}
}
"""So that Kueue knows what a claim counts as."""


def test_excluded_prefixes(cluster: Cluster) -> None:
    """With a prefix too short any number of GPUs is admitted, and a slice counts as nothing."""
    for name, example, counted in (("bad", bad, 0), ("good", good, 10)):
        with cluster.kueue(configuration(example(PREFIX), example(INPUT))):
            prefix, slices = f"{name}-prefix", f"{name}-input"
            show(cluster, scene(good(PREFIX), prefix), scene(good(INPUT), slices, "a100"))
            cluster.create(
                job("too-much", prefix, SIXTEEN, queue="a100"),
                job("fits", prefix, Ask(gpus=1, cpu="8", memory="64Gi"), queue="a100"),
                job("slice", slices, SLICE, queue=f"{slices}-a100"),
            )
            want = ["fits", "too-much"] if example is bad else ["fits"]
            cluster.becomes(name, lambda ns=prefix: cluster.admitted(ns), want)
            cluster.becomes(name, lambda ns=slices: cluster.admitted(ns), ["slice"])
            queue = f"{slices}.{slices}-a100"
            cluster.becomes("cpu", lambda queue=queue: reserved(cluster, queue, "cpu"), 8)
            assert reserved(cluster, queue, GIB) == counted


def test_what_is_not_counted_and_what_cannot_be(cluster: Cluster) -> None:
    """GPUs that a queue does not cover, and a claim by its name."""
    with cluster.kueue(
        configuration(bad(NOT_COUNTED), yaml.safe_dump({**DEVICES, "kind": "Configuration"}))
    ):
        show(
            cluster,
            *(scene(bad(it), f"bad-{i}", "a100") for i, it in enumerate((NOT_COUNTED, CLAIM))),
            *(scene(good(it), f"good-{i}", "a100") for i, it in enumerate((NOT_COUNTED, CLAIM))),
            *_devices("good-1"),
        )
        for name in ("bad-0", "good-0"):
            cluster.create(job("too-much", name, SIXTEEN, queue=f"{name}-a100"))
        cluster.becomes("bad", lambda: cluster.admitted("bad-0"), ["too-much", "train"])
        cluster.becomes("good", lambda: cluster.admitted("good-0"), ["train"])
        cluster.becomes("charged", lambda: reserved(cluster, "good-0.good-0-a100"), 1)
        assert reserved(cluster, "bad-0.bad-0-a100") == 0
        cluster.becomes("from a template", lambda: cluster.admitted("good-1"), ["train"])
        reason = "does not support use of resource claims"
        cluster.until(reason, lambda: reason in " ".join(messages(cluster, "bad-1")))
        assert cluster.admitted("bad-1") == []


def _devices(namespace: str) -> tuple[str, ...]:
    """The template of the page's claim, and the class that it is of."""
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}
    template: Object = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "one-gpu", "namespace": namespace},
        "spec": {"spec": {"devices": {"requests": [request]}}},
    }
    device: Object = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "gpu.example.com"},
        "spec": {},
    }
    return yaml.safe_dump(device), yaml.safe_dump(template)
