"""In Kueue: shared cards and MIG, the queues of the articles, and serving pods."""

import pytest

from tests.servers.cluster import KUEUE
from tests.servers.scenes import held, jobs, ready
from tests.servers.specs import pool, share, team
from tests.servers.workloads import KUEUE_QUEUE, Ask, deployment

SMALL, LARGE = "nvidia.com/mig-1g.10gb", "nvidia.com/mig-3g.40gb"
QUEUES = """
queues:
  - {name: high, priority: 1000, weight: 3}
  - {name: low, priority: 100, weight: 1}
"""


def test_each_mig_profile_is_lent_by_itself(cluster):
    gpu = {
        "product": "NVIDIA-A100-SXM4-80GB",
        "sharing": "mig",
        "mig": {"instances": {"1g.10gb": 8, "3g.40gb": 8}},
    }
    ready(
        cluster,
        pool(gpu=gpu),
        team("nlp", share(guarantee={"1g.10gb": 2}, limit={"1g.10gb": 3, "3g.40gb": 1})),
        team("vision", share(guarantee={"3g.40gb": 8})),
    )
    cluster.create(*jobs("nlp", 5, Ask(resource=SMALL), prefix="small"))
    cluster.create(*jobs("nlp", 3, Ask(resource=LARGE), prefix="large"))
    in_use = lambda: (cluster.bound("nlp", SMALL), cluster.bound("nlp", LARGE))
    cluster.becomes("instances in use", in_use, (3, 1))
    cluster.stays("instances in use", in_use, (3, 1), for_s=1)


def test_replicas_of_shared_cards_are_counted(cluster):
    """2 cards of 4 replicas are 8, of which nlp may have 5."""
    gpu = {"sharing": "timeSlicing", "replicas": 4}
    ready(cluster, pool(gpus=2, gpu=gpu), team("nlp", share(limit=5)), team("vision", share()))
    cluster.create(*jobs("nlp", 7))
    cluster.becomes("nlp's", lambda: held(cluster, "nlp"), [5])
    cluster.create(*jobs("vision", 5))
    cluster.becomes("vision's", lambda: held(cluster, "vision"), [3])
    cluster.becomes("replicas in use", cluster.bound, 8)
    cluster.stays("admitted", lambda: held(cluster, "nlp", "vision"), [5, 3], for_s=1)


def test_a_queue_of_the_articles_is_guaranteed_its_weights_share(cluster):
    """16 GPUs by 3 to 1: low borrows all of them, in 4s, and 12 go back to high."""
    large = {
        "apiVersion": "gpu.example.com/v1",
        "kind": "ResourcePool",
        "metadata": {"name": "large"},
        "spec": {"nodeSelector": {"gpu.type": "h100"}, "capacity": {"totalGPUs": 16}},
    }
    queues = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "gpu-scheduler-config", "namespace": "kube-system"},
        "data": {"scheduler-config.yaml": QUEUES},
    }
    ready(cluster, large, queues)
    ask = Ask(gpus=4)

    def admitted():
        found = cluster.admitted("default")
        return [sum(name.startswith(queue) for name in found) for queue in ("high", "low")]

    cluster.create(*jobs("default", 5, ask, prefix="low", queue="low.large"))
    cluster.becomes("low borrows all", admitted, [0, 4])
    cluster.create(*jobs("default", 5, ask, prefix="high", queue="high.large"))
    cluster.becomes("each its share", admitted, [3, 1])
    cluster.stays("each its share", admitted, [3, 1], for_s=1)


@pytest.mark.parametrize("backstop, made", [(False, 6), (True, 4)])
def test_pods_that_wait_for_kueue_count_in_a_quota(cluster, backstop, made):
    """A limit of 4 and a Deployment of 6: two wait, or a backstop refuses them."""
    out = ready(
        cluster,
        pool(quotaBackstop=backstop),
        team("nlp", share(guarantee=2, limit=4)),
    )
    with cluster.kueue(out.kueue_config):
        serving = deployment("d", "nlp", Ask(), replicas=6)
        serving["metadata"]["labels"] = {KUEUE_QUEUE: "a100"}
        cluster.create(serving)
        cluster.becomes("in use", lambda: cluster.bound("nlp"), 4)
        cluster.becomes("pods", lambda: len(cluster.pods("nlp")), made)
        cluster.stays("in use", lambda: cluster.bound("nlp"), 4, for_s=1)
        assert len(cluster.objects(KUEUE, "Workload", "nlp")) == made
