"""The labels that the controllers of Kubernetes and Volcano add to pods."""

from policygen.kubernetes.cluster import Cluster as Read
from policygen.kubernetes.pod_labels import pod_labels
from tests.servers.cluster import Cluster
from tests.servers.test_node_filters import object_of
from tests.servers.workloads import Ask, deployment, job, vcjob

ASK = Ask(gpus=0, labels={"team": "a"})


def test_controllers_add_these_labels(cluster: Cluster) -> None:
    made = {
        "batch": job("x", "batch", ASK),
        "volcano": vcjob("x", "volcano", ASK),
        "apps": deployment("x", "apps", ASK),
    }
    cluster.create(*made.values())
    for namespace, data in made.items():
        [pod] = cluster.until("pods", lambda namespace=namespace: cluster.pods(namespace))
        [workload] = Read([object_of(data)]).workloads
        known = pod_labels(workload, workload.templates[0])
        assert known.items() <= pod["metadata"]["labels"].items()
        if namespace != "apps":
            assert len(known) > len(workload.templates[0].labels)
