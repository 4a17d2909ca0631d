"""A control plane that knows ProvisioningRequests, so that Kueue's check for them works.

Who answers them is an autoscaler, which no test has: a request stays as Kueue made it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from tests.servers.client import Object
from tests.servers.cluster import Cluster
from tests.servers.proofs.kinds import known

API_VERSION, KIND = "autoscaling.x-k8s.io/v1", "ProvisioningRequest"
CONFIGURATION: Object = {
    "apiVersion": "config.kueue.x-k8s.io/v1beta2",
    "kind": "Configuration",
    "integrations": {"frameworks": ["batch/job"]},
}


@contextmanager
def provisioning(cluster: Cluster, configuration: Object = CONFIGURATION) -> Iterator[None]:
    """Kueue looks for the kind when it starts, so it is started again."""
    with ExitStack() as before:
        before.enter_context(known(cluster, API_VERSION, KIND, "provisioningrequests"))
        with cluster.kueue(configuration):
            try:
                yield
            finally:
                before.close()  # before the usual Kueue starts, which would use it


def requests(cluster: Cluster, namespace: str) -> list[Object]:
    """The ProvisioningRequests of a namespace."""
    return cluster.objects(API_VERSION, KIND, namespace)
