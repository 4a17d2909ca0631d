"""Reading a server on loopback: the order of requests, and the resulting snapshot."""

import json
import sys
import threading
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import pytest

from policygen.client import live, requests
from policygen.client.live import ClusterQuery
from policygen.kubernetes.snapshot import CONFIG_MAP, NODE, POD, GroupKind
from tests import loopback
from tests.client import ways

TAKEN = datetime(2026, 11, 21, 3, tzinfo=UTC)
DEPLOYMENT = GroupKind("apps", "Deployment")
NAMESPACE = GroupKind("", "Namespace")
JOB = GroupKind("batch", "Job")
PLURALS = {
    POD: "pods",
    NODE: "nodes",
    NAMESPACE: "namespaces",
    CONFIG_MAP: "configmaps",
    DEPLOYMENT: "deployments",
    JOB: "jobs",
}
HEADS = {
    plural: {
        "kind": f"{kind.kind}List",
        "apiVersion": f"{kind.group}/v1" if kind.group else "v1",
    }
    for kind, plural in PLURALS.items()
}


def discovery(core):
    """The discovery response of `/api` or `/apis`."""
    groups = {}
    for kind, plural in PLURALS.items():
        if (kind.group == "") == core:
            resource = {"resource": plural, "responseKind": {"kind": kind.kind}, "verbs": ["list"]}
            resource["scope"] = "Cluster" if kind in (NODE, NAMESPACE) else "Namespaced"
            groups.setdefault(kind.group, []).append(resource)
    return [
        {"metadata": {"name": name}, "versions": [{"version": "v1", "resources": resources}]}
        for name, resources in groups.items()
    ]


@pytest.fixture
def way_to(tmp_path):
    """Starts a server with these items by plural of their kind; returns it and its requests.

    `wait` delays a response until its event is set; `on` sets an event when a request arrives.
    """
    given = {
        "items": {},
        "asked": [],
        "wait": {},
        "on": {},
        "dripping": "",
        "hidden": None,
        "over": threading.Event(),
    }

    def respond(request):
        parts = urlsplit(request.path)
        name = parts.path.rpartition("/")[2]
        given["asked"].append(name)
        if name in given["on"]:
            given["on"][name].set()
        if name == given["dripping"]:
            request.wfile.write(b"HTTP/1.1 200 OK\r\nx-slow: ")
            while not given["over"].wait(0.05):
                request.wfile.write(b"a")
            return
        if name in given["wait"]:
            assert given["wait"][name].wait(20)
        items = given["items"].get(name, [])
        named = parse_qs(parts.query).get("fieldSelector", [""])[0].rpartition("=")[2]
        if named:
            items = [each for each in items if each["metadata"]["name"] == named]
        if name in ("api", "apis"):
            hidden = given["hidden"] if given["asked"].count(name) == 1 else None
            items = [it for it in discovery(name == "api") if it["metadata"]["name"] != hidden]
        head = HEADS.get(name, {"kind": "List", "apiVersion": "v1"})
        body = json.dumps({**head, "metadata": {}, "items": items}).encode()
        loopback.send(request, body)

    with ways.to(respond, tmp_path) as way:

        def make(items, wait=None, on=None, dripping="", hidden=None, seconds=60):
            given.update(items=items, asked=[], wait=wait or {}, on=on or {})
            given.update(dripping=dripping, hidden=hidden)
            return requests.Server(way, requests.Deadline.after(seconds)), given["asked"]

        yield make
        given["over"].set()


@pytest.fixture
def served(way_to):
    """Reads such a server; returns the snapshot and the list of requests."""

    def look(wanted, items, **how):
        server, asked = way_to(items, **how)
        with live.begin(server, wanted) as begun:
            return begun.finish(TAKEN), asked

    return look


def item(name, **fields):
    return {"metadata": {"name": name, "namespace": "n"}, **fields}


def test_lists_are_on_their_way_before_they_are_waited_for(way_to):
    """The spec is rendered between begin and finish."""
    asked = threading.Event()
    items = {"pods": [item("p", spec={})], "nodes": [item("a")], "namespaces": [item("n")]}
    wanted = ClusterQuery(frozenset({POD, NAMESPACE, NODE}), config_maps=frozenset())
    server, given = way_to(items, on={"nodes": asked})
    with live.begin(server, wanted) as look:
        assert asked.wait(20)
        snapshot = look.finish(TAKEN)
    assert snapshot.seen.read == {POD, NAMESPACE, NODE}
    assert not snapshot.seen.gaps
    assert sorted(given) == ["api", "apis", "namespaces", "nodes", "pods", "version"]
    assert [str(it) for it in snapshot.pods] == ["Pod n/p"]
    assert {it.kind for it in snapshot.objects} == {"Pod", "Node", "Namespace"}


def test_config_maps_are_here_before_the_longest_list(served):
    """ConfigMaps that controllers mount are requested as soon as the Deployments are known."""
    volumes = [{"name": "v", "configMap": {"name": "its-own"}}]
    containers = [{"name": "c", "image": "registry.k8s.io/kueue/kueue:v0.19.2"}]
    spec = {"template": {"spec": {"containers": containers, "volumes": volumes}}}
    items = {
        "deployments": [item("manager", spec=spec)],
        "configmaps": [item("its-own", data={}), item("another", data={})],
        "pods": [item("p", spec={})],
    }
    asked_for = threading.Event()

    class Items(dict):
        def get(self, key, default=None):
            if key == "configmaps":
                asked_for.set()
            return super().get(key, default)

    wanted = ClusterQuery(frozenset({POD, DEPLOYMENT, CONFIG_MAP}), config_maps=frozenset())
    snapshot, _ = served(wanted, Items(items), wait={"pods": asked_for})
    names = {(it.kind, it.name) for it in snapshot.objects}
    assert names == {("Deployment", "manager"), ("ConfigMap", "its-own"), ("Pod", "p")}


def test_only_pods_without_a_known_owner_are_objects(served):
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u", "controller": True}
    owned = {"metadata": {"name": "b", "namespace": "n", "ownerReferences": [owner]}, "spec": {}}
    twin = {**owned, "metadata": {**owned["metadata"], "name": "c"}}
    items = {"pods": [owned, item("p", spec={}), twin], "jobs": [item("j", spec={})]}
    snapshot, _ = served(ClusterQuery(frozenset({POD, JOB}), config_maps=frozenset()), items)
    assert [pod.name for pod in snapshot.pods] == ["b", "p", "c"]
    assert snapshot.pods[0].owner is snapshot.pods[2].owner
    assert [(it.kind, it.name) for it in snapshot.objects] == [("Job", "j"), ("Pod", "p")]


def test_a_list_whose_headers_never_end_is_a_gap(served):
    """Each byte arrives in time, but the total time limit ends this list. Other lists are read."""
    items = {"pods": [item("p", spec={})], "nodes": [item("a")]}
    wanted = ClusterQuery(frozenset({POD, NODE}), config_maps=frozenset())
    snapshot, _ = served(wanted, items, dripping="nodes", seconds=1)
    assert [str(gap) for gap in snapshot.seen.gaps] == [
        "Node could not be read: the time limit was reached; raise --timeout"
    ]
    assert snapshot.seen.read == {POD}
    assert [pod.name for pod in snapshot.pods] == ["p"]


def test_turns_of_threads_are_as_long_as_before(served):
    before = sys.getswitchinterval()
    served(ClusterQuery(frozenset({POD}), config_maps=frozenset()), {})
    assert sys.getswitchinterval() == before


@pytest.mark.parametrize("kind, plural", [(POD, "pods"), (JOB, "jobs")])
@pytest.mark.parametrize(
    "metadata, reason",
    [
        ({"namespace": "n"}, "an object in the list has no name"),
        ({"name": "", "namespace": "n"}, "an object in the list has no name"),
        (
            {"name": "a", "namespace": "m"},
            'the list of namespace "n" contains "a" of namespace "m"',
        ),
    ],
)
def test_a_list_with_an_object_that_was_not_requested_is_a_gap(
    served, kind, plural, metadata, reason
):
    wanted = ClusterQuery(frozenset({kind}), namespaces=("n",), config_maps=frozenset())
    items = {plural: [item("sound", spec={}), {"metadata": metadata, "spec": {}}]}
    snapshot, _ = served(wanted, items)
    (gap,) = snapshot.seen.gaps
    assert (gap.kind, gap.namespace) == (kind.kind, "n")
    assert reason in gap.reason
    assert kind not in snapshot.seen.read


@pytest.mark.parametrize("kind, plural", [(POD, "pods"), (JOB, "jobs")])
@pytest.mark.parametrize(
    "other, reason",
    [
        (item("sound"), 'the list contains "sound" of namespace "n" twice'),
        ({"metadata": {"name": "a"}}, '"a" in the list has no namespace'),
        (item("a", kind="Cohort"), "an object in the list has kind Cohort instead of "),
        (item("a", apiVersion="v0"), "an object in the list has apiVersion v0 instead of "),
    ],
)
def test_a_list_of_all_namespaces_with_a_wrong_object_is_a_gap(served, kind, plural, other, reason):
    wanted = ClusterQuery(frozenset({kind}), config_maps=frozenset())
    snapshot, _ = served(wanted, {plural: [item("sound", spec={}), {**other, "spec": {}}]})
    (gap,) = snapshot.seen.gaps
    assert reason in gap.reason
    assert not snapshot.seen.read
    assert (snapshot.pods, snapshot.objects) == ((), ())


def test_a_node_of_another_kind_is_a_gap(served):
    wanted = ClusterQuery(frozenset({NODE}), config_maps=frozenset())
    snapshot, _ = served(wanted, {"nodes": [item("a", kind="Pod")]})
    assert [it.reason for it in snapshot.seen.gaps] == [
        "an object in the list has kind Pod instead of Node"
    ]


def test_a_group_that_is_served_only_a_moment_later_is_a_gap(served):
    wanted = ClusterQuery(frozenset({POD, JOB}), config_maps=frozenset())
    snapshot, _ = served(wanted, {"jobs": [item("j")]}, hidden="batch")
    (gap,) = snapshot.seen.gaps
    assert (gap.group, gap.kind) == JOB
    assert "did not serve this kind at first" in gap.reason
    assert not snapshot.seen.unserved


def test_a_group_that_is_never_served_is_no_gap(served):
    other = GroupKind("example.com", "Other")
    wanted = ClusterQuery(frozenset({POD, other}), config_maps=frozenset())
    snapshot, _ = served(wanted, {})
    assert (snapshot.seen.gaps, snapshot.seen.unserved) == ((), {other})
