"""Kueue's topologies in a simulation: domains, nodes, and pods that Kueue did not place."""

from collections import Counter

from tests.simulate.scenes import QUEUES, job, played

RACK = "example.com/rack"


def topology(*levels):
    return f"""
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {{name: racks}}
spec: {{levels: [{", ".join(f"{{nodeLabel: {it}}}" for it in levels)}]}}
"""


def node(name, rack):
    return f"""
---
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{gpu: a100, {RACK}: {rack}, kubernetes.io/hostname: {name}}}}}
status: {{allocatable: {{cpu: 64, memory: 1Ti, nvidia.com/gpu: 8}}}}
"""


NODES = node("a0", "a") + node("a1", "a") + node("b0", "b") + node("b1", "b")
AWARE = QUEUES.replace("{nodeLabels", "{topologyName: racks, nodeLabels").replace(
    "nominalQuota: 12", "nominalQuota: 100"
)
STATE = AWARE + topology(RACK, "kubernetes.io/hostname") + NODES


def asks(text, request):
    metadata = f"metadata: {{annotations: {{{request}}}}}\n    spec:"
    return text.replace("template:\n    spec:", f"template:\n    {metadata}")


def required(name, gpus, pods, **more):
    return asks(job(name, gpus, pods, **more), f"kueue.x-k8s.io/podset-required-topology: {RACK}")


def nodes(run):
    return sorted(Counter(run.last_nodes).elements())


def test_pods_run_in_the_domain_that_kueue_chose():
    """Two racks have 16 GPUs each, so the second job does not share the rack of the first one."""
    text = STATE + required("first", 8, 2) + required("second", 4, 3) + required("third", 8, 2)
    found = played(text)
    first, second, third = (found[f"nlp/{it}"] for it in ("first", "second", "third"))
    assert (first.started, second.started) == (0, 0)
    assert {it // 2 for it in nodes(first)}.isdisjoint({it // 2 for it in nodes(second)})
    assert len({it // 2 for it in nodes(second)}) == 1
    assert third.started == 3601  # no rack has 16 GPUs left before


def test_a_domain_of_several_nodes_is_left_to_kube_scheduler():
    found = played(AWARE + topology(RACK) + NODES + required("a", 4, 4))["nlp/a"]
    assert len({it // 2 for it in nodes(found)}) == 1


def test_a_job_that_fits_into_no_domain_waits_with_the_words_of_kueue():
    found = played(STATE + required("a", 8, 3))["nlp/a"]
    assert found.started is None
    assert found.workload.message == (
        'couldn\'t assign flavors to pod set main: topology "racks" allows to fit only 2 out of 3 pod(s)'
    )


def test_other_annotations():
    preferred = f"kueue.x-k8s.io/podset-preferred-topology: {RACK}"
    sliced = f"{preferred}, kueue.x-k8s.io/podset-slice-required-topology: {RACK}, kueue.x-k8s.io/podset-slice-size: '2'"
    free = "kueue.x-k8s.io/podset-unconstrained-topology: 'true'"
    text = STATE + "".join(
        asks(job(f"j{i}", 8, 4), it) for i, it in enumerate((preferred, sliced, free))
    )
    found = played(text)
    assert [found[f"nlp/j{i}"].started for i in range(3)] == [0, 3601, 7202]


def test_pods_that_kueue_did_not_place_count():
    """The pods without a queue hold both racks; Kueue learns of their end up to 10 s later."""
    others = job("other", 8, 3, queue="", annotations="policygen.dev/runs-for: 100s")
    late = required("a", 8, 2, annotations="policygen.dev/arrives-after: 1s")
    found = played(STATE + others + late)
    assert (found["nlp/other"].started, found["nlp/a"].started) == (0, 110)


def test_a_queue_without_its_topology_is_inactive():
    found = played(AWARE + NODES + job("a", 1))["nlp/a"]
    assert (found.started, found.workload.message) == (None, "ClusterQueue nlp is inactive")
