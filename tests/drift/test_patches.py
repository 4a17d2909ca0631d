"""The steps that fix a cluster, and their kubectl commands."""

import shlex

import pytest

from policygen.core.finding import At
from policygen.drift.compare import FieldDifference
from policygen.drift.drift import Changed, Drift, RenderedObject
from policygen.drift.patches import Act, kubectl, named, patch_command, resource, steps
from policygen.kubernetes.object import Object
from policygen.plan.catalog import BY_NAME
from policygen.plan.kind import Item, Meta


def thing(api_version, kind, name, namespace="", **more):
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    data = {"apiVersion": api_version, "kind": kind, "metadata": metadata, **more}
    return Object(At(0), api_version, kind, name, namespace, data)


def queue(name, **deserved):
    it = thing("scheduling.volcano.sh/v1beta1", "Queue", name, spec={"deserved": deserved})
    return RenderedObject(item(BY_NAME["Queue"], name), it, f"text of {name}")


def item(kind, name):
    return Item(kind, kind.releases[-1], Meta(name, "set"))


def drift(order=(), **more):
    empty = {"changed": (), "missing": (), "leaving": (), "orphans": ()}
    return Drift("east", "east", tuple(order), **empty | more)


def changed(it, path, wanted, found):
    before = thing(it.object.api_version, it.object.kind, it.object.name, spec={})
    there = {"deserved": {path[-1]: found}}
    before.data["spec"] = there
    return Changed(it, before, (FieldDifference(path, wanted, found, path),))


def everything(*_):
    return True


def test_queues_give_first_and_get_then():
    path = ("spec", "deserved", "cpu")
    root, leaf, more = (queue(name, cpu=cpu) for name, cpu in [("a", 2), ("b", 1), ("c", 9)])
    several = (changed(root, path, 2, 4), changed(leaf, path, 1, 3), changed(more, path, 9, 5))
    made = steps(drift((it.expected.item for it in several), changed=several), everything)
    assert [(it.act, it.object.name) for it in made] == [
        *((Act.PATCH, "b"), (Act.PATCH, "a"), (Act.PATCH, "c")),
    ]


def test_orphans_go_last_those_that_name_others_first():
    made = queue("new")
    flavor, cluster_queue = (
        thing("kueue.x-k8s.io/v1beta2", kind, "old") for kind in ("ResourceFlavor", "ClusterQueue")
    )
    found = steps(drift([made.item], missing=(made,), orphans=(flavor, cluster_queue)), everything)
    assert [(it.act, it.object.kind) for it in found] == [
        *((Act.CREATE, "Queue"), (Act.DELETE, "ClusterQueue"), (Act.DELETE, "ResourceFlavor")),
    ]
    assert found[0].text == "text of new"


def test_an_immutable_field_needs_a_new_object():
    wanted = thing("scheduling.k8s.io/v1", "PriorityClass", "p", value=2)
    found = thing("scheduling.k8s.io/v1", "PriorityClass", "p", value=1)
    it = RenderedObject(item(BY_NAME["PriorityClass"], "p"), wanted, "text")
    difference = FieldDifference(("value",), 2, 1, ("value",))
    (step,) = steps(drift([it.item], changed=(Changed(it, found, (difference,)),)), everything)
    assert (step.act, step.text, step.held) == (Act.RECREATE, "text", False)


def test_what_kueue_holds_needs_more_commands():
    wanted = thing("kueue.x-k8s.io/v1beta2", "ResourceFlavor", "f")
    found = thing("kueue.x-k8s.io/v1beta2", "ResourceFlavor", "f")
    found.data["metadata"]["finalizers"] = ["kueue.x-k8s.io/resource-in-use"]
    it = RenderedObject(item(BY_NAME["ResourceFlavor"], "f"), wanted, "text")
    (step,) = steps(drift([it.item], leaving=((it, found),)), everything)
    assert (step.act, step.held) == (Act.RECREATE, True)


def test_only_kept_findings_are_fixed():
    it = queue("new")
    assert steps(drift([it.item], missing=(it,)), lambda *_: False) == []


@pytest.mark.parametrize(
    ("it", "words"),
    [
        (thing("v1", "ConfigMap", "c", "n"), "configmaps c -n n"),
        (thing("kueue.x-k8s.io/v1beta2", "ClusterQueue", "q"), "clusterqueues.v1beta2.kueue.x-k8s.io q"),
        (thing("v1", "Namespace", "--all"), "namespaces/--all"),
        (thing("kueue.x-k8s.io/v1alpha1", "Topology", "t"), "topologies.v1alpha1.kueue.x-k8s.io t"),
    ],
)  # fmt: skip
def test_an_object_in_words_of_kubectl(it, words):
    assert " ".join(named(it)) == words
    assert words.startswith(resource(it))


def test_the_cluster_in_words_of_kubectl():
    assert kubectl("") == ["kubectl"]
    assert kubectl("east") == ["kubectl", "--context", "east"]
    assert kubectl("east", "f") == ["kubectl", "--kubeconfig", "f", "--context", "east"]


def test_a_command_is_one_for_a_shell():
    wanted = thing("v1", "ConfigMap", "c", "n", data={"a": "it's"})
    found = thing("v1", "ConfigMap", "c", "n", data={"a": ""})
    it = FieldDifference(("data", "a"), "it's", "", ("data", "a"))
    words = shlex.split(patch_command(wanted, found, it, ["kubectl"]))
    assert words == [
        *("kubectl", "patch", "configmaps", "c", "-n", "n", "--type=json", "-p"),
        '[{"op":"replace","path":"/data/a","value":"it\'s"}]',
    ]
