"""A cluster of any size on the bench: what a spec renders, nodes, Jobs, and their pods as they run.

The objects have what those of real clusters have and no rule reads: images of nodes, environments,
mounts, statuses of containers, and managedFields of two writers.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.servers.client import MERGE, Client

THREADS = 16
PODS_PER_JOB = 16
LATER = ("ResourceQuota",)
"""Kinds that are created last: they would refuse pods until a controller has counted usage."""

Data = dict[str, Any]


def fill(client: Client, rendered: Iterable[Data], nodes: int, pods: int) -> None:
    """Make everything, as the controllers and kubelets that are not there would leave it."""
    objects = list(rendered)
    objects += [_priority(value) for value in (10, 1000)]
    spaces = [it["metadata"]["name"] for it in objects if it["kind"] == "Namespace"]
    _each(client.create, (it for it in objects if it["kind"] == "Namespace"))
    _each(client.create, (it for it in objects if it["kind"] not in {"Namespace", *LATER}))
    _each(lambda index: _node(client, index), range(nodes))
    jobs = -(-pods // PODS_PER_JOB)
    made = _each(lambda index: client.create(job(index, spaces)), range(jobs))
    uids = [it["metadata"]["uid"] for it in made]
    _each(lambda index: _pod(client, index, spaces, uids, nodes), range(pods))
    _each(client.create, (it for it in objects if it["kind"] in LATER))


def _each(do: Callable[[Any], Any], what: Iterable[Any]) -> list[Any]:
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(do, what))


def _priority(value: int) -> Data:
    """WorkloadPriorityClasses, for queues that preempt by priority."""
    kind, name = "WorkloadPriorityClass", f"priority-{value}"
    api = "kueue.x-k8s.io/v1beta2"
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name}, "value": value}


def _node(client: Client, index: int) -> None:
    name = f"node-{index:05}"
    labels = {
        "pool": "pool",
        "kubernetes.io/hostname": name,
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "topology.kubernetes.io/zone": f"zone-{index % 3}",
        "node.kubernetes.io/instance-type": "gpu-8",
    } | {f"nvidia.com/gpu.feature-{number}": "true" for number in range(20)}
    asked = {"cpu": "96", "memory": "1200Gi", "nvidia.com/gpu": "8", "pods": "110"}
    status = {
        "capacity": asked,
        "allocatable": asked | {"cpu": "92", "memory": "1100Gi"},
        "conditions": [
            _condition(kind, "True" if kind == "Ready" else "False")
            for kind in ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")
        ],
        "images": [
            {
                "names": [
                    f"images.example/training/image-{number}@sha256:{number:064x}",
                    f"images.example/training/image-{number}:v1.{number}",
                ],
                "sizeBytes": 1 << 30,
            }
            for number in range(20)
        ],
        "nodeInfo": {
            "architecture": "amd64", "bootID": "b", "containerRuntimeVersion": "containerd://2.1",
            "kernelVersion": "6.12", "kubeProxyVersion": "", "kubeletVersion": "v1.36.0",
            "machineID": "m", "operatingSystem": "linux", "osImage": "Linux", "systemUUID": "s",
        },
    }  # fmt: skip
    metadata = {"name": name, "labels": labels}
    client.create({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status})


def job(index: int, spaces: list[str]) -> Data:
    """A running pod in the namespace of a team."""
    name, space = f"job-{index:05}", spaces[index % len(spaces)]
    queue = {"kueue.x-k8s.io/queue-name": "pool"}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": space, "labels": queue},
        "spec": {
            "parallelism": PODS_PER_JOB,
            "completions": PODS_PER_JOB,
            "template": {"metadata": {"labels": queue}, "spec": _pod_spec(index)},
        },
    }


def _pod_spec(job_index: int) -> Data:
    asked = {"cpu": "4", "memory": "64Gi", "nvidia.com/gpu": "1"}
    few = {"cpu": "100m", "memory": "128Mi"}
    mounts = [
        {"name": name, "mountPath": f"/mnt/{name}"} for name in ("scratch", "config", "shared")
    ]
    return {
        "restartPolicy": "Never",
        "nodeSelector": {"pool": "pool"},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
        "containers": [
            {
                "name": "main",
                "image": "images.example/training/image-1:v1.1",
                "command": ["python", "-m", "train", "--epochs=100", "--data=/mnt/shared"],
                "env": [
                    {"name": f"TRAINING_SETTING_{number}", "value": f"some-value-of-{number}"}
                    for number in range(12)
                ],
                "resources": {"requests": asked, "limits": asked},
                "volumeMounts": mounts,
            },
            {
                "name": "metrics",
                "image": "images.example/training/metrics:v2.0",
                "args": ["--port=9090"],
                "resources": {"requests": few, "limits": few},
                "volumeMounts": mounts[:1],
            },
        ],
        "volumes": [
            {"name": "scratch", "emptyDir": {}},
            {"name": "config", "configMap": {"name": f"job-{job_index:05}"}},
            {"name": "shared", "persistentVolumeClaim": {"claimName": "datasets"}},
        ],
    }


def _pod(client: Client, index: int, spaces: list[str], uids: list[str], nodes: int) -> None:
    number = index // PODS_PER_JOB
    owner, space = f"job-{number:05}", spaces[number % len(spaces)]
    name = f"pod-00-{index:06}"
    reference = {"apiVersion": "batch/v1", "kind": "Job", "name": owner, "uid": uids[number]}
    client.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": space,
                "labels": {
                    "batch.kubernetes.io/job-name": owner,
                    "job-name": owner,
                    "kueue.x-k8s.io/queue-name": "pool",
                },
                "annotations": {
                    "batch.kubernetes.io/job-completion-index": str(index % PODS_PER_JOB)
                },
                "ownerReferences": [{**reference, "controller": True, "blockOwnerDeletion": True}],
            },
            "spec": _pod_spec(number) | {"nodeName": f"node-{index % nodes:05}"},
        }
    )
    path = f"/api/v1/namespaces/{space}/pods/{name}/status"
    answer = client.request("PATCH", path, {"status": _running(index)}, content_type=MERGE)
    assert answer.ok, answer.message


def _running(index: int) -> Data:
    since = "2026-11-20T08:00:00Z"
    return {
        "phase": "Running",
        "startTime": since,
        "hostIP": "10.0.0.1",
        "podIP": f"10.{index >> 16}.{index >> 8 & 255}.{index & 255}",
        "conditions": [
            _condition(kind, "True")
            for kind in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady",
                         "PodScheduled")
        ],
        "containerStatuses": [
            {
                "name": name,
                "ready": True,
                "started": True,
                "restartCount": 0,
                "image": f"images.example/training/{name}:v1",
                "imageID": f"images.example/training/{name}@sha256:{index:064x}",
                "containerID": f"containerd://{index:064x}",
                "state": {"running": {"startedAt": since}},
            }
            for name in ("main", "metrics")
        ],
    }  # fmt: skip


def _condition(kind: str, status: str) -> Data:
    since = "2026-11-20T08:00:00Z"
    return {"type": kind, "status": status, "reason": "Told", "lastTransitionTime": since}
