"""The updater of the VerticalPodAutoscaler on the bench. Tests write what its recommender would."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from tests.servers.build import Built
from tests.servers.cluster import Cluster
from tests.servers.ports import free_ports
from tests.servers.test_other_tools import install
from tests.servers.upstream import VERTICAL_AUTOSCALER, VERTICAL_UPDATER

VPA = "autoscaling.k8s.io/v1", "VerticalPodAutoscaler"
TOO_MUCH = {"cpu": "90", "memory": "700Gi"}
"""A recommendation far above all requests of tests."""
OPTIONS = (
    "--updater-interval=1s",
    "--use-admission-controller-status=false",  # the webhook that changes requests does not run
    "--min-replicas=1",
)


@contextmanager
def vertical_updater(
    cluster: Cluster, built: Mapping[str, Built]
) -> Iterator[Callable[[str, str], bool]]:
    """Run the updater; gives whether it has looked at an object of a namespace and a name."""
    install(cluster, built, VERTICAL_AUTOSCALER)
    (port,) = free_ports(1)
    name = VERTICAL_UPDATER.name
    command = [built[name].binary("updater"), f"--kubeconfig={cluster.bench.kubeconfig}"]
    process = cluster.bench.run(name, [*command, *OPTIONS, f"--address=127.0.0.1:{port}"])
    try:
        yield lambda space, it: f'vpa="{space}/{it}"' in process.log.read_text("utf-8")
    finally:
        cluster.bench.end(name)


def recommend(cluster: Cluster, namespace: str, name: str, container: str = "main") -> None:
    """Recommend TOO_MUCH for a container of the target of an object."""
    amounts = dict.fromkeys(("target", "lowerBound", "upperBound"), TOO_MUCH)
    recommendation = {"containerRecommendations": [{"containerName": container, **amounts}]}
    cluster.patch(*VPA, name, {"status": {"recommendation": recommendation}}, namespace, "status")
