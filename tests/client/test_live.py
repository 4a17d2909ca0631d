"""A look at a server on loopback: what is read when, and what is made of it."""

import json
import sys
import threading
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import pytest

from policygen.client import live, requests
from policygen.client.live import Wanted
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


def discovery(core):
    """What `/api` or `/apis` says."""
    groups = {}
    for kind, plural in PLURALS.items():
        if (kind.group == "") == core:
            resource = {"resource": plural, "responseKind": {"kind": kind.kind}, "verbs": ["list"]}
            groups.setdefault(kind.group, []).append(resource)
    return [
        {"metadata": {"name": name}, "versions": [{"version": "v1", "resources": resources}]}
        for name, resources in groups.items()
    ]


@pytest.fixture
def served(tmp_path):
    """Looks at a server that has these items, by the plural of their kind; also says what was asked."""
    given = {"items": {}, "asked": [], "wait": {}, "dripping": "", "over": threading.Event()}

    def respond(request):
        parts = urlsplit(request.path)
        name = parts.path.rpartition("/")[2]
        given["asked"].append(name)
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
            items = discovery(core=name == "api")
        body = json.dumps({"kind": "List", "metadata": {}, "items": items}).encode()
        loopback.send(request, body)

    def look(wanted, items, wait=None, dripping="", seconds=60):
        given.update(items=items, asked=[], wait=wait or {}, dripping=dripping)
        at = requests.Deadline.after(seconds)
        return live.look(requests.Server(way, at), wanted, taken=TAKEN), given["asked"]

    with ways.to(respond, tmp_path) as way:
        yield look
        given["over"].set()


def item(name, **fields):
    return {"metadata": {"name": name, "namespace": "n"}, **fields}


def test_all_that_is_wanted_is_said_while_the_first_lists_are_on_their_way(served):
    said = threading.Event()

    def more():
        said.set()
        return Wanted(frozenset({POD, NAMESPACE, NODE}), config_maps=frozenset())

    first = Wanted(frozenset({POD, NAMESPACE}), config_maps=frozenset(), more=more)
    items = {"pods": [item("p", spec={})], "nodes": [item("a")], "namespaces": [item("n")]}
    # No pod comes before `more` has been asked.
    snapshot, asked = served(first, items, wait={"pods": said})
    assert snapshot.seen.read == {POD, NAMESPACE, NODE}
    assert not snapshot.seen.gaps
    assert sorted(asked) == ["api", "apis", "namespaces", "nodes", "pods", "version"]
    assert [str(it) for it in snapshot.pods] == ["Pod n/p"]
    assert {it.kind for it in snapshot.objects} == {"Pod", "Node", "Namespace"}


def test_config_maps_are_here_before_the_longest_list(served):
    """Those that Deployments of controllers mount are asked for when the Deployments are known."""
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

    wanted = Wanted(frozenset({POD, DEPLOYMENT, CONFIG_MAP}), config_maps=frozenset())
    snapshot, _ = served(wanted, Items(items), wait={"pods": asked_for})
    names = {(it.kind, it.name) for it in snapshot.objects}
    assert names == {("Deployment", "manager"), ("ConfigMap", "its-own"), ("Pod", "p")}


def test_only_pods_that_nothing_stands_for_are_objects(served):
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u", "controller": True}
    owned = {"metadata": {"name": "b", "namespace": "n", "ownerReferences": [owner]}, "spec": {}}
    items = {"pods": [owned, item("p", spec={}), owned], "jobs": [item("j", spec={})]}
    snapshot, _ = served(Wanted(frozenset({POD, JOB}), config_maps=frozenset()), items)
    assert [pod.name for pod in snapshot.pods] == ["b", "p", "b"]
    assert snapshot.pods[0].owner is snapshot.pods[2].owner
    assert [(it.kind, it.name) for it in snapshot.objects] == [("Job", "j"), ("Pod", "p")]


def test_a_list_whose_head_drips_for_ever_is_a_gap(served):
    """Each byte comes in time, and the socket's timeout is of one byte; the others are here."""
    items = {"pods": [item("p", spec={})], "nodes": [item("a")]}
    wanted = Wanted(frozenset({POD, NODE}), config_maps=frozenset())
    snapshot, _ = served(wanted, items, dripping="nodes", seconds=1)
    assert [str(gap) for gap in snapshot.seen.gaps] == [
        "Node could not be read: there was no time left"
    ]
    assert snapshot.seen.read == {POD}
    assert [pod.name for pod in snapshot.pods] == ["p"]


def test_turns_of_threads_are_as_long_as_before(served):
    before = sys.getswitchinterval()
    served(Wanted(frozenset({POD}), config_maps=frozenset()), {})
    assert sys.getswitchinterval() == before
