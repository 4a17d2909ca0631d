"""A change of an object or a model changes all its replicas."""

from policygen.simulate.why.changes import OwnChange, PriorityChange, RequestChange
from policygen.simulate.why.remedies import beyond, simple
from policygen.simulate.why.remedy import Cost, Remedy
from tests.simulate.why.waiting import GPU, explain, flavor, job, local, priority, queue, thing


def deployment(name, replicas, gpus):
    amounts = {GPU: str(gpus)}
    resources = {"requests": amounts, "limits": amounts}
    labels = {"kueue.x-k8s.io/queue-name": "q"}
    template = {
        "metadata": {"labels": {**labels, "app": name}},
        "spec": {"containers": [{"name": "c", "image": "c", "resources": resources}]},
    }
    selector = {"matchLabels": {"app": name}}
    spec = {"replicas": replicas, "selector": selector, "template": template}
    return thing("Deployment", name, spec, "n", "apps/v1", **labels)


def test_a_request_is_small_enough_for_all_replicas():
    """Of 10 GPUs, two replicas have 4 each. A third one of 2 fits beside them, but all have the same request."""
    things = flavor(), queue("q", 10), local(), deployment("d", 3, 4)
    found = explain("n/d-2", *things)
    (one,) = (it for it in found.remedies if isinstance(it.changes[0], RequestChange))
    assert (one.changes[0].after, one.replicas) == (3, 3)
    assert one.cost == Cost()


def test_a_lower_priority_of_all_replicas_is_no_remedy_for_one():
    """A replica with another priority can preempt the others; then the model has no more replicas than before."""
    within = {"withinClusterQueue": "LowerPriority"}
    things = flavor(), queue("q", 8, preemption=within), local(), priority("high", 9)
    found = explain("n/d-2", *things, deployment("d", 3, 4))
    assert not any(isinstance(it.changes[0], PriorityChange) for it in found.remedies)
    assert all(it.replicas for it in found.remedies if isinstance(it.changes[0], OwnChange))
    alone = explain("n/b", *things, job("a", 8), job("b", 8))
    assert any(isinstance(it.changes[0], PriorityChange) for it in alone.remedies)
    assert not any(it.replicas for it in alone.remedies)


def test_a_smaller_change_of_the_same_fields_is_printed_alone():
    def remedy(after, *, more=(), gone=()):
        return Remedy((RequestChange("main", GPU, 8, after), *more), Cost(preempted=gone))

    cpu = RequestChange("main", "cpu", 4000, 2000)
    small, large, both = remedy(6), remedy(4), remedy(6, more=(cpu,))
    assert list(simple([large, both, small])) == [small]
    assert list(simple([remedy(6, gone=("n/x",)), large])) != [large]  # the larger one costs less
    assert beyond([small, large, both], [small]) == []
    assert beyond([small], [both]) == [small]
