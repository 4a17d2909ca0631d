"""Volcano's queues as a tree, and the workloads that use them."""

from fractions import Fraction

import pytest
from msgspec.structs import replace

from policygen.core import versions
from policygen.core.finding import At
from policygen.lint.volcano import queues
from policygen.lint.volcano.rules import children_exceed_parent
from tests.objects import cluster, facts, workload


def queue(name, parent="", spec=""):
    parent = f"parent: {parent}, " if parent else ""
    return (
        "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, "
        f"metadata: {{name: {name}}}, spec: {{{parent}{spec}}}}}\n---\n"
    )


def tree(*several):
    it = cluster("".join(several).removesuffix("---\n"))
    return queues.tree(it), it


def test_queues_below_root():
    it, objects = tree(queue("a"), queue("b", "a"), queue("c", "b"))
    assert it.lost == {}
    assert (it.inner("root"), it.inner("a"), it.inner("c")) == (True, True, False)
    assert [each.name for each in queues.ancestors(objects, objects.queues.get("c"))] == ["b", "a"]
    assert it.leaf("a") == "use a queue below a"
    assert it.leaf("c") == "use another queue"


def test_queues_whose_ancestor_is_missing_or_repeats():
    it, objects = tree(queue("b", "a"), queue("a", "gone"), queue("x", "y"), queue("y", "x"))
    assert {name: it.lost[name] for name in "abxy"} == {
        "a": "gone",
        "b": "gone",
        "x": "x",
        "y": "x",
    }
    assert [each.name for each in queues.ancestors(objects, objects.queues.get("x"))] == ["y"]


def test_the_order_of_documents_does_not_matter():
    found, _ = tree(queue("a", "gone"), queue("b", "a"))
    assert {name: found.lost[name] for name in "ab"} == {"a": "gone", "b": "gone"}


def test_a_queue_below_one_that_cannot_be_read_is_not_lost():
    _, objects = tree(queue("b", "a"), queue("a", spec="deserved: 5"))
    partly_read = objects.without(frozenset({At(1)}))
    assert partly_read.queues.get("a") is None
    assert queues.tree(partly_read).lost == {}


def test_amounts_by_their_fields():
    _, it = tree(queue("a", spec="deserved: {cpu: 2}, guarantee: {resource: {cpu: 1}}"))
    found = queues.amounts(it.queues.get("a").fields)
    assert found == {
        queues.CAPABILITY: {},
        queues.DESERVED: {"cpu": Fraction(2)},
        queues.GUARANTEE: {"cpu": Fraction(1)},
    }


POD = (
    "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: n, annotations: "
    "{scheduling.volcano.sh/queue-name: a, scheduling.k8s.io/group-name: g}}, spec: {schedulerName: %s}}\n"
)
OTHERS = """---
{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: g, namespace: n}, spec: {}}
---
{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j, namespace: n}, spec: {queue: b}}
"""


def test_who_names_a_queue():
    it = cluster(POD % "volcano" + OTHERS)
    assert {(use.owner, use.queue) for use in queues.queue_uses(it)} == {
        ("PodGroup n/g", "default"),
        ("Job n/j", "b"),
        ("Pod n/p", "a"),
    }
    assert [use.owner for use in queues.queue_uses(cluster(POD % "other"))] == []


def test_pods_of_a_group():
    found = queues.groups(cluster(POD % "volcano" + OTHERS))
    assert {key: [str(it) for it, _ in these] for key, these in found.items()} == {
        ("n", "g"): ["Pod n/p"]
    }


def test_the_size_of_a_gang_is_an_annotation():
    text = "{apiVersion: v1, kind: Pod, metadata: {annotations: {%s: %s}}, spec: {}}"
    assert queues.gang_size(workload(text % (queues.MIN_MEMBER, '"3"'))) == 3
    assert queues.gang_size(workload(text % (queues.MIN_MEMBER, '"-3"'))) == 0
    assert queues.gang_size(workload(text % ("a", "b"))) == 0


def test_amounts_above_the_sum_of_nodes_which_falls_back_to_their_capacity():
    node = "{apiVersion: v1, kind: Node, metadata: {name: %s}, status: {%s}}\n---\n"
    text = node % ("a", "allocatable: {cpu: 2}, capacity: {cpu: 9}") + node % (
        "b",
        "capacity: {cpu: 3}",
    )
    for cpu, exceeded in ((3, [("cpu", 6, 5, ["a", "b"])]), (2, [])):
        two = "".join(queue(name, spec=f"deserved: {{cpu: {cpu}}}") for name in "ab")
        found = queues.excesses(cluster(two + text.removesuffix("---\n")), queues.DESERVED)
        assert [
            (it.resource, it.total, it.have, [queue.name for queue in it.queues]) for it in found
        ] == exceeded


def children_exceed(amount):
    text = queue("p") + queue("a", "p", amount) + queue("b", "p", amount).removesuffix("---\n")
    return [it.message for it in children_exceed_parent.check(facts(text))]


def test_an_amount_that_a_parent_does_not_set_is_named_once():
    advice = "of Queue p to this sum"
    assert children_exceed("deserved: {nvidia.com/gpu: 8}") == [
        f"Queue p has no deserved nvidia.com/gpu, but its child queues deserve 16, which Volcano 1.14.2 and later refuse; raise deserved {advice}"
    ]
    assert children_exceed("guarantee: {resource: {nvidia.com/gpu: 8}}") == [
        (
            "Queue p has no guaranteed nvidia.com/gpu, but its child queues are guaranteed 16, which "
            f"Volcano 1.14.2 and later refuse; raise guarantee {advice}"
        )
    ]
    assert children_exceed("deserved: {cpu: 4, nvidia.com/gpu: 8}") == [
        (
            "Queue p has no deserved cpu, nvidia.com/gpu, but its child queues deserve 8 cores, "
            f"16 nvidia.com/gpu, which Volcano 1.14.2 and later refuse; raise deserved {advice}"
        )
    ]


def exceeding(text, target):
    found = facts(text)
    version = {**found.target, "volcano": versions.parse("volcano", target)}
    return [it.message for it in children_exceed_parent.check(replace(found, target=version))]


def test_a_parent_without_amounts_as_the_patches_of_1_14_compare_it():
    bare = queue("p") + queue("a", "p", "deserved: {cpu: 1}").removesuffix("---\n")
    assert exceeding(bare, "1.14.1") == []
    assert "no deserved cpu" in exceeding(bare, "1.14.2")[0]
    capable = queue("p", "", "capability: {cpu: 4}") + bare.partition("---\n")[2]
    assert exceeding(capable, "1.14.1") == []
    limited = queue("p") + queue("a", "p", "capability: {cpu: 1}").removesuffix("---\n")
    assert "does not have as much" in exceeding(limited, "1.14.1")[0]
    assert exceeding(limited, "1.14.2") == []


def test_amounts_that_1_14_1_compares():
    one = {
        name: Fraction(1)
        for name in ("cpu", "gpu", "count/pods", "requests.cpu", "a/b", "a/b/c", "pods")
    }
    assert [*queues.counted(one)] == ["cpu", "a/b", "pods"]
    zero = {"cpu": Fraction(0), "a/b": Fraction(0)}
    assert queues.above(zero, {}) == ["a/b"]
    assert queues.above(zero, zero) == []


def test_the_patches_that_refuse():
    every, first = versions.parse("volcano", "1.14"), versions.parse("volcano", "1.14.0")
    assert queues.refusing(queues.Webhook, every) == ""
    assert queues.refusing([queues.Webhook.COMPLETE], first) == ""
    end = ", which Volcano 1.14.2 and later refuse"
    assert queues.refusing([queues.Webhook.LISTED], every) == end


RAY = """
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: r, namespace: n, labels: {%s}}
spec: {headGroupSpec: {template: {spec: {containers: [{name: a, image: b}]}}}}
"""


@pytest.mark.parametrize(
    ("labels", "queue"),
    [
        ("", ""),
        ("ray.io/scheduler-name: yunikorn, volcano.sh/queue-name: a", ""),
        ("ray.io/scheduler-name: volcano", "default"),
        ("volcano.sh/queue-name: a", "a"),
    ],
)
def test_kuberay_writes_the_scheduler_and_the_queue(labels, queue):
    it = cluster(RAY % labels)
    (ray,) = it.workloads
    assert queues.queue_of_pods(it, ray, ray.templates[0]) == queue


def test_the_operators_of_kubeflow_write_the_queue():
    it = cluster(
        """
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: p, namespace: n}
spec:
  runPolicy: {schedulingPolicy: {queue: a}}
  pytorchReplicaSpecs: {Master: {template: {spec: {schedulerName: volcano, containers: [{name: a, image: b}]}}}}
"""
    )
    (job,) = it.workloads
    assert queues.queue_of_pods(it, job, job.templates[0]) == "a"
