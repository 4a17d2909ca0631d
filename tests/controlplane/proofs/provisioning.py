"""A control plane that knows ProvisioningRequests, so that Kueue's check for them works.

Who answers them is an autoscaler, which no test has: a request stays as Kueue made it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.controlplane.client import Object
from tests.controlplane.cluster import Cluster
from tests.controlplane.proofs.examples import conditions

API_VERSION, KIND = "autoscaling.x-k8s.io/v1", "ProvisioningRequest"
CRDS = "apiextensions.k8s.io/v1", "CustomResourceDefinition"
NAME = "provisioningrequests.autoscaling.x-k8s.io"
OPEN: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
CRD: Object = {
    "apiVersion": CRDS[0],
    "kind": CRDS[1],
    "metadata": {
        "name": NAME,
        "annotations": {"api-approved.kubernetes.io": "unapproved, for tests"},
    },
    "spec": {
        "group": "autoscaling.x-k8s.io",
        "scope": "Namespaced",
        "names": {"kind": KIND, "listKind": f"{KIND}List", "plural": "provisioningrequests"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": OPEN},
                "subresources": {"status": {}},
            }
        ],
    },
}
CONFIGURATION: Object = {
    "apiVersion": "config.kueue.x-k8s.io/v1beta2",
    "kind": "Configuration",
    "integrations": {"frameworks": ["batch/job"]},
}


@contextmanager
def provisioning(cluster: Cluster, configuration: Object = CONFIGURATION) -> Iterator[None]:
    """Kueue looks for the kind when it starts, so it is started again."""
    cluster.create(CRD)
    cluster.until("the kind is served", lambda: "Established" in conditions(_crd(cluster)))
    with cluster.kueue(configuration):
        try:
            yield
        finally:
            cluster.delete(*CRDS, NAME)  # before the usual Kueue starts, which would use it
            cluster.until("the kind is gone", lambda: not _known(cluster))


def requests(cluster: Cluster, namespace: str) -> list[Object]:
    """The ProvisioningRequests of a namespace."""
    return cluster.objects(API_VERSION, KIND, namespace)


def _crd(cluster: Cluster) -> Object:
    return cluster.get(*CRDS, NAME)


def _known(cluster: Cluster) -> bool:
    return any(it["metadata"]["name"] == NAME for it in cluster.objects(*CRDS))
