"""Why no node takes a pod, the nearest miss, and what would place the pods."""

import pytest
from msgspec.structs import replace

from policygen.report import cause_words
from policygen.simulate.instant import instant
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.why.causes import NearestNode, NodeReason, WaitingPods
from policygen.simulate.why.changes import (
    ConstraintRemoved,
    FieldChange,
    PodsChange,
    PriorityChange,
    RequestChange,
    TolerationAdded,
)
from policygen.simulate.why.explainer import Explainer
from policygen.simulate.why.scene_nodes import occupied
from tests.simulate.why.waiting import (
    GPU,
    explain,
    flavor,
    job,
    job_set,
    local,
    node,
    queue,
    scene,
    thing,
)

TAINT = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}


def test_the_node_that_comes_closest():
    found = explain("n/a", node("x", 2), node("y", 4), job("a", gpus=6, to=""))
    assert found.cause.kind.value == "no-node-fits"
    assert found.cause.node_reasons == (NodeReason(f"Insufficient {GPU}", 2),)
    assert found.cause.nearest == NearestNode("y", GPU, 6, 4)
    assert found.remedies[0].changes[0].after == 4
    assert isinstance(found.remedies[0].changes[0], RequestChange)


def test_pods_of_which_some_find_a_node():
    found = explain("n/a", node("x"), job("a", gpus=3, pods=4, to=""))
    assert (found.cause.placed, found.cause.pods) == (2, 4)
    first = found.remedies[0].changes[0]
    assert (type(first), first.after) == (PodsChange, 2)


@pytest.mark.parametrize("to", ["q", ""])
def test_the_pod_sets_of_pods_without_a_node(to):
    """Both workers are too large. The driver has room, although it comes after them."""
    queues = flavor(), queue("q", 16), local()
    found = explain("n/a", *queues, node("x", 4), job_set("a", to, worker=(2, 5), driver=(1, 1)))
    cause = found.cause
    assert (cause.placed, cause.pods) == (1, 3)
    assert cause.waiting == (WaitingPods("worker", 2, 2),)
    words = "2 of its 3 pods fit on no node (pod set worker: 2 of 2)."
    assert words in cause_words.reasons(found)
    assert (cause.never.placed, cause.never.pods) == (1, 3)


def test_two_pod_sets_without_a_node():
    found = explain("n/a", node("x", 4), job_set("a", "", ps=(1, 6), worker=(3, 4)))
    assert [(it.pod_set, it.waiting) for it in found.cause.waiting] == [("ps", 1), ("worker", 2)]
    assert (
        "3 of its 4 pods fit on no node (pod sets ps: 1 of 1, worker: 2 of 3; the reason is that of ps)."
        in cause_words.reasons(found)
    )


def test_a_toleration_or_another_node():
    nodes = node("x", taints=[TAINT]), node("y", unschedulable=True)
    found = explain("n/a", *nodes, job("a", to=""))
    kinds = [type(it.changes[0]) for it in found.remedies]
    assert kinds == [TolerationAdded, FieldChange]
    assert found.remedies[1].changes[0].name == "y"


def test_pods_with_room_have_no_cause():
    assert explain("n/a", node("x"), job("a", to="")).cause.kind.value == "admitted"


def test_pods_that_repel_each_other_on_the_only_node():
    """One of them runs, and would repel the other one until the Job is created anew."""
    term = {"labelSelector": {"matchLabels": {"j": "a"}}, "topologyKey": "kubernetes.io/hostname"}
    repels = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    asked = job("a", pods=2, to="", affinity=repels)
    asked["spec"]["template"]["metadata"] = {"labels": {"j": "a"}}
    made = scene(node("x"), asked)
    state = instant(made, arrivals(made), None)
    explainer = Explainer(state.scene, state.arrivals)
    found = explainer.explain(*explainer.named("n/a"))
    assert (found.cause.placed, found.cause.never.placed) == (1, 1)
    assert [it.changes for it in found.remedies] == [
        (ConstraintRemoved("main", "podAntiAffinity"),),
        (PodsChange("main", 2, 1),),
    ]


def test_a_class_with_which_pods_preempt_others():
    """Class polite has a higher value, but its pods preempt none."""
    classes = [
        {
            **thing("PriorityClass", name, None, version="scheduling.k8s.io/v1"),
            "value": value,
            **policy,
        }
        for name, value, policy in (("polite", 5, {"preemptionPolicy": "Never"}), ("high", 9, {}))
    ]
    made = scene(node("x"), *classes, job("b", gpus=8, to=""), job("a", gpus=8, to=""))
    state = instant(made, arrivals(made), None)
    explainer = Explainer(state.scene, state.arrivals)
    found = explainer.explain(*explainer.named("n/a"))
    (change,) = (it for one in found.remedies for it in one.changes)
    assert change == PriorityChange(0, 9, "high", of_pods=True)


def test_preempted_pods_that_are_admitted_again_use_nodes_too():
    made = scene(node("x"), job("b", gpus=6, to=""), job("a", gpus=4, to=""))
    runs, asked = (replace(it, nodes=("x",) * (it.name == "n/b")) for it in arrivals(made))
    nodes = occupied(made, [runs])

    def has_room():
        return nodes.has_room(asked, (), {}, ())

    assert not has_room()
    assert nodes.room_beside((), ["n/b"], has_room)
    assert not nodes.room_beside([(runs, {})], ["n/b"], has_room)
    assert not has_room()


def test_a_job_with_several_pods_on_the_nearest_node_is_named_once():
    made = scene(node("x"), job("b", gpus=3, pods=2, to=""), job("a", gpus=8, to=""))
    then = instant(made, arrivals(made), None)
    (waits,) = (it for it in then.arrivals if it.name == "n/a")
    cause = Explainer(then.scene, then.arrivals).explain(waits).cause
    assert cause.nearest == NearestNode("x", GPU, 8, 2, ("n/b",))
