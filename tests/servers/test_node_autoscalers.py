"""Node autoscalers on real servers: what is rendered is accepted, and Kueue waits for requested nodes."""

from pathlib import Path

from tests.servers.cluster import KUEUE, holds
from tests.servers.proofs.provisioning import answer, requests
from tests.servers.rendering import rendered
from tests.servers.workloads import Ask, job

EXAMPLE = Path(__file__).parents[2] / "examples" / "node-autoscalers" / "policy.yaml"


def test_jobs_wait_for_requested_nodes_and_start_when_they_exist(cluster):
    """Karpenter's CRD accepts the NodePool; a pool without a class has no request."""
    out = rendered(EXAMPLE.read_text("utf-8"), "node-autoscaler")
    assert {"NodePool", "AdmissionCheck", "ProvisioningRequestConfig"} <= {
        it["kind"] for it in out.objects
    }
    again = cluster.apply_twice(out.text)
    assert not again.refused
    assert again.changed == []

    def active():
        check = cluster.get(KUEUE, "AdmissionCheck", "a100")
        queue = cluster.get(KUEUE, "ClusterQueue", "vision.a100")
        return holds(check, "Active") and holds(queue, "Active")

    cluster.until("the check and its queue are active", active)
    ask = Ask(gpus=8, cpu="8", memory="64Gi")
    cluster.create(*(job(name, "vision", ask, queue=name) for name in ("a100", "h100")))
    cluster.becomes("h100 has no check", lambda: cluster.admitted("vision"), ["h100"])
    (request,) = cluster.until("the nodes are requested", lambda: requests(cluster, "vision"))
    assert request["spec"]["provisioningClassName"] == "check-capacity.autoscaling.x-k8s.io"
    assert [it["count"] for it in request["spec"]["podSets"]] == [1]
    cluster.stays("the job waits for its nodes", lambda: cluster.admitted("vision"), ["h100"])
    for pool in ("a100", "h100"):
        cluster.add_nodes(out.pools[pool], 1, prefix=pool)
    answer(cluster, request)
    both = ["a100", "h100"]
    cluster.becomes("the nodes exist", lambda: sorted(cluster.admitted("vision")), both)
    cluster.becomes("GPUs in use", lambda: cluster.bound("vision"), 16)
