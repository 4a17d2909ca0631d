"""Pods that are larger than each node."""

from policygen.simulate.oversized import oversized, too_large
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.why.causes import Cause, CauseKind, NearestNode
from tests.simulate.scenes import NODES, QUEUES, job, scene
from tests.simulate.test_assumptions import recorded


def notes(text, **causes):
    it = scene(text)
    return list(oversized(it, arrivals(it), {f"nlp/{name}": one for name, one in causes.items()}))


def test_the_largest_amounts_of_pods_and_nodes():
    large = job("b", 1, queue="").replace("cpu: 4", "cpu: 65, rdma/ib: 1")
    assert notes(QUEUES + NODES + job("a", 9) + large) == [
        "no node has 65 cores, which a pod of nlp/b requests; the largest node has 64 cores",
        "no node has 9 GPUs, which a pod of nlp/a requests; the largest node has 8 GPUs",
        "no node has 1 rdma/ib, which a pod of nlp/b requests; the largest node has 0 rdma/ib",
    ]


def test_a_job_that_is_too_large_never_starts_although_the_simulation_ends_early():
    it = scene(QUEUES + NODES + job("a", 9) + job("b", 8))
    large, other = arrivals(it)
    near = too_large(it)(large).nearest
    assert (near.resource, near.asked, near.free) == ("nvidia.com/gpu", 9, 8)
    assert too_large(it)(other) is None
    ended = recorded(scene(QUEUES + NODES + job("a", 9)), until=60)
    assert [one.state.value for one in ended.jobs] == ["never-starts"]


def test_sound_jobs_and_unknown_nodes_have_no_note():
    assert notes(QUEUES + NODES + job("a", 8)) == []
    assert notes(QUEUES + job("a", 9)) == []


def test_an_amount_that_the_cause_of_a_job_names_is_not_repeated():
    near = Cause(CauseKind.NO_NODES, nearest=NearestNode("n0", "nvidia.com/gpu", 9, 8))
    text = QUEUES + NODES + job("a", 9) + job("b", 9)
    assert notes(text, a=near, b=near) == []
    other = Cause(CauseKind.NO_NODES, nearest=NearestNode("n0", "cpu", 4000, 3000))
    (note,) = notes(text, a=near, b=other)
    assert "a pod of nlp/b requests" in note
