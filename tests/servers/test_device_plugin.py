"""The code of NVIDIA's device plugin reads each rendered file, and reads in it what the pool counts."""

import json
import subprocess
from collections.abc import Iterator, Sequence

import pytest
import yaml

from tests.servers.rendering import rendered

POOL = """
---
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {{name: {name}}}
spec:
  nodeSelector: {{pool: {name}}}
  gpu: {{product: {product}, perNode: 4, {gpu}}}
  capacity: {{nodes: 2, nodeAllocatable: {{cpu: 32, memory: 128Gi}}}}
"""
MIG = "sharing: mig, mig: {strategy: single, instances: {1g.5gb: 56}}"
POOLS = (
    ("slices", "NVIDIA-L4", "sharing: timeSlicing, replicas: 4, resource: nvidia.com/gpu"),
    ("shared", "NVIDIA-L4", "sharing: timeSlicing, replicas: 2, resource: nvidia.com/gpu.shared"),
    ("processes", "NVIDIA-L4", "sharing: mps, replicas: 3, resource: nvidia.com/gpu.shared"),
    ("mig", "NVIDIA-A100-SXM4-40GB", MIG),
)
PLATFORM = "apiVersion: policygen.dev/v1alpha1\nkind: Platform\nmetadata: {name: farm}\n"
SPEC = PLATFORM + "".join(POOL.format(name=it, product=p, gpu=gpu) for it, p, gpu in POOLS)


@pytest.fixture
def answers(tools):
    def ask(texts: Sequence[str]) -> Iterator[dict]:
        lines = "".join(f"{json.dumps(it)}\n" for it in texts)
        command = [tools["device-plugin"].binary("configs")]
        done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
        assert done.stderr == ""  # a warning says that a field is ignored
        found = [json.loads(it) for it in done.stdout.splitlines()]
        assert len(found) == len(texts)
        return found

    return ask


@pytest.fixture(scope="module")
def files():
    documents = yaml.safe_load_all(rendered(SPEC, "device-plugin").text)
    (data,) = [it["data"] for it in documents if it["metadata"]["name"] == "farm-device-plugin"]
    return data


def test_the_device_plugin_reads_what_the_pools_count(files, answers):
    read = dict(zip(files, answers(files.values()), strict=True))
    assert {name: it["refused"] for name, it in read.items() if it["refused"]} == {}
    counted = {name: _shared(it["read"]["sharing"]) for name, it in read.items()}
    assert counted == {
        "default": [],
        "slices": [("timeSlicing", "nvidia.com/gpu", "nvidia.com/gpu", 4)],
        "shared": [("timeSlicing", "nvidia.com/gpu", "nvidia.com/gpu.shared", 2)],
        "processes": [("mps", "nvidia.com/gpu", "nvidia.com/gpu.shared", 3)],
        "mig": [],
    }
    strategies = {name: it["read"]["flags"]["migStrategy"] for name, it in read.items()}
    assert strategies == {**dict.fromkeys(files), "mig": "single"}


def _shared(sharing):
    """How each resource is shared, its name, the name of its replicas, and how many a card has."""
    return [
        (how, it["name"], it.get("rename", it["name"]), it["replicas"])
        for how, found in sharing.items()
        for it in found.get("resources", ())
    ]


def test_the_device_plugin_refuses_a_file_with_one_replica_or_an_unknown_version(files, answers):
    slices = files["slices"]
    bad = [slices.replace("replicas: 4", "replicas: 1"), slices.replace("v1", "v2", 1)]
    once, version = (it["refused"] for it in answers(bad))
    assert "number of replicas must be >= 2" in once
    assert "unknown version: v2" in version
