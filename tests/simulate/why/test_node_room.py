"""Whether remedies let pods find nodes."""

from policygen.simulate.why.changes import FewestPodsChange, RequestChange
from tests.simulate.why.waiting import GPU, PLAIN, explain, flavor, job, local, node, queue


def test_smaller_pods_fit_on_smaller_nodes():
    """Kueue admits 3 pods with 6 GPUs, but nodes have 4."""
    queues = flavor(), queue("q", 20), local()
    nodes = (node(it, 4) for it in "xyz")
    found = explain("n/a", *queues, *nodes, job("a", gpus=8, pods=3))
    smaller = [it for it in found.remedies if isinstance(it.changes[0], RequestChange)]
    assert [(it.changes[0].after, it.placed) for it in smaller] == [(4, True)]


def test_a_pod_that_is_larger_than_each_node():
    found = explain("n/a", *PLAIN, node("x", 4), node("y", 6), job("b", pods=8), job("a", gpus=8))
    near = found.cause.never.nearest
    assert (near.node, near.resource, near.asked, near.free) == ("y", GPU, 8, 6)
    assert not found.ends
    assert not found.remedies
    assert {it.changes[0].after for it in found.later} == {6}


def test_pods_that_nodes_hold_when_others_have_ended():
    """b runs on the node. The pods of a have room without it, so nothing is never."""
    found = explain("n/a", *PLAIN, node("x", 8), job("b", pods=6), job("a", pods=4))
    assert found.cause.never is None
    assert found.remedies[0].changes == (FewestPodsChange("main", 4, 2, 4),)


def test_others_that_a_change_admits_use_nodes_too():
    """c waits before a. More quota admits both, but nodes have room for one."""
    jobs = job("b", pods=4), job("c", pods=4), job("a", pods=4)
    queues = flavor(), queue("q", 4), local()
    found = explain("n/a", *queues, node("x", 8), *jobs)
    raised = [it for it in found.remedies if hasattr(it.changes[0], "path")]
    assert [(it.changes[0].after, it.cost.admitted, it.placed) for it in raised] == [
        ("12", ("n/c",), False)
    ]
