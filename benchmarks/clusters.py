"""Objects of clusters of any size, as plain data."""

from collections.abc import Iterator
from typing import Any

KUEUE = "kueue.x-k8s.io/v1beta2"
CARDS = ("a100", "h100", "l4", "mi300x")
COHORTS = 100
QUEUES_PER_NAMESPACE = 2
PODS_PER_OWNER = 25


def made(api_version: str, kind: str, name: str, namespace: str = "", **fields: Any) -> Any:
    """An object of this kind and name."""
    metadata: dict[str, Any] = {"name": name, "uid": f"{kind}-{namespace}-{name}"}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata} | fields


def policy(count: int) -> Iterator[Any]:
    """Flavors, cohorts, namespaces and priorities, and queues up to this number of objects."""
    for card in CARDS:
        labels = {"nodeLabels": {"pool": card}}
        yield made(KUEUE, "ResourceFlavor", card, spec=labels)
    for index in range(COHORTS):
        yield made(KUEUE, "Cohort", f"cohort-{index}", spec={})
    for value in (10, 1000):
        yield made(KUEUE, "WorkloadPriorityClass", f"p{value}", value=value)
    teams = (count - len(CARDS) - COHORTS - 2) // (2 + QUEUES_PER_NAMESPACE)
    for index in range(teams):
        yield namespace(index)
        yield cluster_queue(index)
        for queue in range(QUEUES_PER_NAMESPACE):
            spec = {"clusterQueue": f"team-{index}"}
            yield made(KUEUE, "LocalQueue", f"queue-{queue}", f"team-{index}", spec=spec)


def namespace(index: int) -> Any:
    """A team's namespace."""
    it = made("v1", "Namespace", f"team-{index}")
    it["metadata"]["labels"] = {"kubernetes.io/metadata.name": f"team-{index}"}
    return it


def cluster_queue(index: int) -> Any:
    """A team's quota, which others share but for the numbers."""
    card = CARDS[index % len(CARDS)]
    resources = [
        {"name": "cpu", "nominalQuota": f"{1600 + index % 50}"},
        {"name": "memory", "nominalQuota": f"{20 + index % 50}Ti"},
        {"name": "nvidia.com/gpu", "nominalQuota": f"{200 + index % 9}", "borrowingLimit": "8"},
    ]
    names = [each["name"] for each in resources]
    of_team = {"matchLabels": {"kubernetes.io/metadata.name": f"team-{index}"}}
    spec = {
        "cohortName": f"cohort-{index % COHORTS}",
        "namespaceSelector": of_team,
        "preemption": {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"},
        "resourceGroups": [
            {"coveredResources": names, "flavors": [{"name": card, "resources": resources}]}
        ],
    }
    return made(KUEUE, "ClusterQueue", f"team-{index}", spec=spec)


def node(index: int) -> Any:
    """A node with eight GPUs."""
    card = CARDS[index % len(CARDS)]
    allocatable = {"cpu": "94", "memory": "1000Gi", "nvidia.com/gpu": "8", "pods": "110"}
    status = {"allocatable": allocatable, "conditions": [{"type": "Ready", "status": "True"}]}
    it = made("v1", "Node", f"node-{index}", spec={}, status=status)
    it["metadata"]["labels"] = {"pool": card, "kubernetes.io/hostname": f"node-{index}"}
    return it


def pod_spec(index: int) -> Any:
    """The pod spec of a team, with its resource requests."""
    gpus = 1 << index // len(CARDS) % 4
    asked = {"cpu": f"{gpus * 8}", "memory": f"{gpus * 100}Gi", "nvidia.com/gpu": gpus}
    return {
        "containers": [
            {"name": "main", "image": "trainer", "resources": {"requests": asked, "limits": asked}}
        ],
        "nodeSelector": {"pool": CARDS[index % len(CARDS)]},
        "schedulerName": "default-scheduler",
        "restartPolicy": "Never",
    }


def job(index: int, teams: int) -> Any:
    """A Job of some team."""
    team = index % teams
    template = {"spec": pod_spec(team)}
    spec = {"parallelism": PODS_PER_OWNER, "suspend": False, "template": template}
    it = made("batch/v1", "Job", f"job-{index}", f"team-{team}", spec=spec)
    it["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "queue-0"}
    return it


def pod(index: int, nodes: int, teams: int) -> Any:
    """A pod with this number, of the Job that it belongs to."""
    owner = index // PODS_PER_OWNER
    team = owner % teams
    it = made("v1", "Pod", f"pod-{index}", f"team-{team}", status={"phase": "Running"})
    it["spec"] = pod_spec(team) | {"nodeName": f"node-{index % nodes}"}
    reference = {"apiVersion": "batch/v1", "kind": "Job", "name": f"job-{owner}", "uid": "a"}
    it["metadata"] |= {
        "labels": {"job-name": f"job-{owner}", "kueue.x-k8s.io/queue-name": "queue-0"},
        "ownerReferences": [{**reference, "controller": True}],
        "creationTimestamp": "2026-11-20T08:00:00Z",
    }
    return it
