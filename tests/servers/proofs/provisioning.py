"""ProvisioningRequests, by which Kueue asks an autoscaler for the nodes of a workload.

The bench has their CRD, but no autoscaler: a request stays as Kueue made it, until a test answers it.
"""

from __future__ import annotations

from tests.servers.client import Object
from tests.servers.cluster import Cluster

API_VERSION, KIND = "autoscaling.x-k8s.io/v1", "ProvisioningRequest"


def requests(cluster: Cluster, namespace: str) -> list[Object]:
    """The ProvisioningRequests of a namespace."""
    return cluster.objects(API_VERSION, KIND, namespace)


def answer(cluster: Cluster, request: Object) -> None:
    """Report that the nodes of a request exist."""
    condition = {
        "type": "Provisioned",
        "status": "True",
        "reason": "Provisioned",
        "message": "the nodes exist",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    meta = request["metadata"]
    change = {"status": {"conditions": [condition]}}
    cluster.patch(API_VERSION, KIND, meta["name"], change, meta["namespace"], "status")
