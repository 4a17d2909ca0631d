"""Preemptions that Kueue's objects still know."""

from policygen.core.finding import At
from policygen.kubernetes.object import Object
from policygen.simulate.why.history import Preempted, preempted

MESSAGE = (
    "Preempted to accommodate a workload (UID: u1, JobUID: j1) due to prioritization in the "
    "ClusterQueue; preemptor path: /root/q; preemptee path: /root/q"
)


def workload(*conditions):
    data = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": {"name": "w"}}
    return Object.read({**data, "status": {"conditions": list(conditions)}}, At(0))


def test_who_preempted_a_workload_and_by_which_rule():
    at = "2026-11-20T08:00:00Z"
    one = {"type": "Preempted", "status": "True", "reason": "InClusterQueue", "message": MESSAGE}
    timed = workload({**one, "lastTransitionTime": at})
    (found,) = preempted(timed, {"u1": "n/high"})
    assert found == Preempted("n/high", "InClusterQueue", MESSAGE, at, "/root/q")
    (unknown,) = preempted(timed, {})
    assert unknown.by == "u1"


def test_other_conditions_are_no_preemptions():
    assert not list(preempted(workload({"type": "Evicted", "status": "True", "message": "m"}), {}))
