"""A serving model survives what its spec states: a drained node, and an update without room."""

import pytest

from tests.servers.cluster import holds
from tests.servers.rendering import rendered
from tests.servers.specs import model, platform, pool, share, team

KUBE = {"scheduler": "kube-scheduler"}
SCHEDULERS = {"kueue": {}, "kube-scheduler": KUBE, "volcano": {"scheduler": "volcano"}}
SERVED = {"resources": {"gpus": 1}, "container": {"image": "registry.example.com/any:1"}}
NODE = {"failureDomain": "node"}


def rendered_model(gpus, policy, more=(), **spec):
    return rendered(
        [
            platform(),
            pool(gpus=gpus, **policy),
            team("web", share(guarantee=2, **dict(more))),
            model("chat", "web", **SERVED, **spec),
        ],
        "workloads",
        "volcano-config",
    )


def ready(cluster):
    """The nodes of the ready pods."""
    return sorted(it["spec"]["nodeName"] for it in cluster.pods("web") if holds(it, "Ready"))


def evict(cluster, pod):
    """The answer of the eviction API."""
    name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
    thing = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": name, "namespace": namespace},
    }
    path = f"/api/v1/namespaces/{namespace}/pods/{name}/eviction"
    return cluster.client.request("POST", path, thing)


def cordon(cluster, nodes, *, cordoned=True):
    for name in nodes:
        cluster.patch("v1", "Node", name, {"spec": {"unschedulable": cordoned}})


def allowed(cluster):
    status = cluster.get("policy/v1", "PodDisruptionBudget", "chat", "web").get("status", {})
    return status.get("disruptionsAllowed")


@pytest.mark.parametrize("name", SCHEDULERS)
def test_a_drained_node_leaves_all_replicas_but_one(cluster, name):
    """Each replica has its own node, so a drain evicts one, which starts on the free node."""
    out = rendered_model(32, SCHEDULERS[name], replicas=3, availability=NODE)
    with (
        cluster.kube_scheduler(out.scheduler_config)
        if name != "volcano"
        else cluster.volcano(out.volcano_config)
    ):
        nodes = cluster.add_nodes(out.pools["a100"])
        cluster.apply(out.text)
        cluster.becomes("replicas on different nodes", lambda: len(set(ready(cluster))), 3)
        cluster.becomes("evictions", lambda: allowed(cluster), 1)
        first, second, _ = cluster.pods("web")
        cordon(cluster, nodes)  # the replica that replaces the first must not start yet
        assert evict(cluster, first).status == 201
        answer = evict(cluster, second)
        assert (answer.status, answer.body["reason"]) == (429, "TooManyRequests")
        rest = sorted({*nodes} - {first["spec"]["nodeName"]})
        cordon(cluster, rest, cordoned=False)
        cluster.becomes("replicas on the other nodes", lambda: ready(cluster), rest)
        cluster.becomes("evictions", lambda: allowed(cluster), 1)
        assert evict(cluster, second).status == 201


def test_without_the_budget_a_drain_evicts_all(cluster):
    out = rendered_model(32, KUBE, replicas=3)
    with cluster.kube_scheduler(out.scheduler_config):
        cluster.add_nodes(out.pools["a100"])
        cluster.apply(out.text)
        cluster.becomes("replicas", lambda: len(ready(cluster)), 3)
        assert len(set(ready(cluster))) == 1  # the pool packs
        assert [evict(cluster, it).status for it in cluster.pods("web")] == [201] * 3


@pytest.mark.parametrize(
    "gpus, limit, spec",
    [(8, 2, {}), (16, 8, {"availability": NODE})],
    ids=["limit", "nodes"],
)
@pytest.mark.parametrize("name", ["kueue", "kube-scheduler"])
def test_an_update_without_room_ends(cluster, name, gpus, limit, spec):
    """Two replicas, and room for two: with the default, the update would wait for a third pod."""
    out = rendered_model(gpus, SCHEDULERS[name], {"limit": limit}.items(), replicas=2, **spec)
    with cluster.kube_scheduler(out.scheduler_config):
        cluster.add_nodes(out.pools["a100"])
        cluster.apply(out.text)
        cluster.becomes("replicas", lambda: len(ready(cluster)), 2)
        image = [{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "b"}]
        path = cluster.client.resource("apps/v1", "Deployment").path("web", "chat")
        answer = cluster.client.request(
            "PATCH", path, image, content_type="application/json-patch+json"
        )
        assert answer.ok, answer.message
        cluster.until("the new image everywhere", lambda: updated(cluster) == 2)


def updated(cluster):
    status = cluster.get("apps/v1", "Deployment", "chat", "web")["status"]
    return (
        status.get("updatedReplicas")
        if status.get("readyReplicas") == 2 and status.get("replicas") == 2
        else 0
    )
