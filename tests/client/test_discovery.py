"""Discovery: the kinds that an API server serves."""

import json

import pytest

from policygen.client.discovery import Resource, ServedResources, served
from policygen.client.requests import ReadError
from policygen.kubernetes.snapshot import GroupKind

QUEUE = GroupKind("kueue.x-k8s.io", "ClusterQueue")
NEW, OLD = (Resource(QUEUE.group, version, QUEUE.kind, "clusterqueues", namespaced=False) for version in ("v1beta2", "v1beta1"))  # fmt: skip


def group(name, version, *resources, freshness="Current"):
    listed = [{"version": version, "freshness": freshness, "resources": resources}]
    return {"metadata": {"name": name}, "versions": listed}


def resource(kind, verbs=("list",), scope="Namespaced"):
    made = {"resource": f"{kind.lower()}s", "verbs": verbs, "scope": scope}
    return {**made, "responseKind": {"kind": kind}}


def asked(answers):
    return served(lambda path, **_: json.dumps({"items": answers[path]}).encode())


def test_kinds_that_can_be_listed():
    pods = group("", "v1", resource("Pod"), resource("Binding", ["create"]))
    queues = group(QUEUE.group, "v1beta2", resource(QUEUE.kind, scope="Cluster"))
    it = asked({"/api": [pods], "/apis": [queues]})
    assert it.resources == {
        GroupKind("", "Pod"): (Resource("", "v1", "Pod", "pods", namespaced=True),),
        QUEUE: (NEW,),
    }
    assert it.broken == frozenset()


def test_the_path_of_a_list():
    pods = Resource("", "v1", "Pod", "pods", namespaced=True)
    assert (pods.path(), pods.path("n")) == ("/api/v1/pods", "/api/v1/namespaces/n/pods")
    assert NEW.path() == "/apis/kueue.x-k8s.io/v1beta2/clusterqueues"


def test_the_preferred_version_if_there_is_one():
    it = ServedResources({QUEUE: (NEW, OLD)}, frozenset())
    assert it.find(QUEUE) is NEW
    assert it.find(QUEUE, OLD.api_version) is OLD
    assert it.find(QUEUE, "kueue.x-k8s.io/v9") is NEW
    assert it.find(GroupKind("", "Pod")) is None


def test_an_answer_without_a_group_that_every_server_has_is_not_complete():
    it = asked(
        {
            "/api": [group("", "v1", resource("Pod"))],
            "/apis": [group("batch", "v1", resource("Job"))],
        }
    )
    assert it.find(QUEUE) is None
    with pytest.raises(
        ReadError, match="lists no API group apps, although every API server has it"
    ):
        it.find(GroupKind("apps", "Deployment"))
    it = asked(
        {
            "/api": [group("", "v1", resource("Pod"))],
            "/apis": [group("apps", "v1", resource("Deployment"))],
        }
    )
    assert it.find(GroupKind("apps", "DaemonSet")) is None


def test_a_group_that_does_not_answer_is_not_absent():
    stale = group(QUEUE.group, "v1beta2", freshness="Stale")
    other = group("apps", "v1", resource("Deployment"))
    it = asked({"/api": [group("", "v1", resource("Pod"))], "/apis": [stale, other]})
    with pytest.raises(ReadError, match=r"the API group kueue\.x-k8s\.io, but does not answer"):
        it.find(QUEUE)


def test_an_answer_that_is_not_a_list():
    with pytest.raises(ReadError, match="/api is not a list of API groups"):
        served(lambda *_, **__: b"[]")


@pytest.mark.parametrize("empty", ["/api", "/apis"])
@pytest.mark.parametrize("groups", [[], [group("apps", "v1")]])
def test_an_answer_without_kinds_is_not_believed(empty, groups):
    served_groups = [group("", "v1", resource("Pod"))]
    with pytest.raises(ReadError, match=f"the answer to {empty} lists no kind"):
        asked({"/api": served_groups, "/apis": served_groups, empty: groups})
