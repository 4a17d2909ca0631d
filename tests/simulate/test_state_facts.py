"""What differs between two states."""

import pytest

from policygen.simulate.state_facts import StateChange, state_changes, state_facts
from tests.simulate.scenes import NODES, QUEUES, scene

STATE = QUEUES + NODES


def changes(before, after):
    return [
        (it.subject, it.field, it.before, it.after)
        for it in state_changes(*(state_facts(scene(text)) for text in (before, after)))
    ]


@pytest.mark.parametrize(
    "written, instead, expected",
    [
        (
            "name: nvidia.com/gpu, nominalQuota: 12",
            "name: nvidia.com/gpu, nominalQuota: 8",
            ("ClusterQueue nlp", "quota of a100", "12", "8"),
        ),
        (
            "name: nvidia.com/gpu, nominalQuota: 12",
            "name: nvidia.com/gpu, nominalQuota: 12, borrowingLimit: 4",
            ("ClusterQueue nlp", "limit of a100", "none", "16"),
        ),
        (
            "name: cpu, nominalQuota: 100",
            "name: cpu, nominalQuota: 50",
            ("ClusterQueue nlp", "quota of cpu in a100", "100 cores", "50 cores"),
        ),
        (
            "namespaceSelector: {}",
            "namespaceSelector: {}\n  fairSharing: {weight: 2}",
            ("ClusterQueue nlp", "weight", "1", "2"),
        ),
        (
            "namespaceSelector: {}",
            "namespaceSelector: {}\n  preemption: {withinClusterQueue: LowerPriority}",
            ("ClusterQueue nlp", "withinClusterQueue", "Never", "LowerPriority"),
        ),
    ],
)
def test_a_field_that_differs(written, instead, expected):
    assert written in STATE
    assert changes(STATE, STATE.replace(written, instead)) == [expected]
    assert changes(STATE, STATE) == []


def test_quotas_of_other_resources_follow_those_of_gpus():
    other = STATE.replace("nominalQuota: 12", "nominalQuota: 24").replace("100}", "200}")
    assert changes(STATE, other) == [("ClusterQueue nlp", "quota of a100", "12", "24")]


def test_an_object_of_one_state_is_named_once():
    assert changes(STATE, NODES) == [
        ("ClusterQueue nlp", "", "exists", ""),
        ("LocalQueue nlp/main", "", "exists", ""),
        ("pool a100", "", "exists", ""),
        ("pool nodes", "", "", "exists"),
    ]


def test_nodes_and_priorities():
    other = STATE.replace("nvidia.com/gpu: 8", "nvidia.com/gpu: 4", 1)
    assert changes(STATE, other) == [("pool a100", "GPUs", "16", "12")]
    rank = """
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: high}
value: 10
"""
    assert changes(STATE + rank, STATE + rank.replace("10", "20")) == [
        ("WorkloadPriorityClass high", "value", "10", "20")
    ]


def test_queues_of_volcano():
    text = """
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: a}
spec: {weight: 1, deserved: {cpu: 8, nvidia.com/gpu: 4}}
"""
    other = text.replace("gpu: 4", "gpu: 6").replace("cpu: 8", "cpu: 9")
    assert changes(STATE + text, STATE + other) == [("Queue a", "deserved", "4", "6")]
    reserved = text.replace("weight: 1", "guarantee: {resource: {nvidia.com/gpu: 2}}")
    assert changes(STATE + text, STATE + reserved) == [("Queue a", "guarantee", "", "2")]


def test_a_change_has_both_values():
    (found,) = state_changes(
        state_facts(scene(STATE)), state_facts(scene(STATE.replace("Quota: 12", "Quota: 8")))
    )
    assert found == StateChange("ClusterQueue nlp", "quota of a100", "12", "8")


def test_gpu_resources_of_one_flavor_have_their_own_quotas():
    gpus, mig = (
        "name: nvidia.com/gpu, nominalQuota: 12",
        "name: nvidia.com/mig-1g.10gb, nominalQuota: 5",
    )
    both = STATE.replace(gpus, f"{gpus}}}\n      - {{{mig}").replace(
        "[cpu, nvidia.com/gpu]", "[cpu, nvidia.com/gpu, nvidia.com/mig-1g.10gb]"
    )
    assert changes(both, both.replace("Quota: 12", "Quota: 8")) == [
        ("ClusterQueue nlp", "quota of nvidia.com/gpu in a100", "12", "8")
    ]
    added = ("ClusterQueue nlp", "quota of nvidia.com/mig-1g.10gb in a100", "", "5")
    assert added in changes(STATE, both)


def test_gpu_resources_of_a_queue_of_volcano():
    text = """
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: a}
spec: {capability: {nvidia.com/gpu: 4, nvidia.com/mig-1g.10gb: 7}}
"""
    assert changes(STATE + text, STATE + text.replace("gpu: 4", "gpu: 6")) == [
        ("Queue a", "capability nvidia.com/gpu", "4", "6")
    ]


def test_priority_classes_of_one_name():
    text = """
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: high}
value: 10
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 5
"""
    assert changes(STATE + text, STATE + text.replace("10", "20")) == [
        ("WorkloadPriorityClass high", "value", "10", "20")
    ]


def test_cores_that_differ_by_rounding_are_no_change():
    assert changes(STATE, STATE.replace("nominalQuota: 100", "nominalQuota: 100001m")) == []
    assert changes(STATE, STATE.replace("nominalQuota: 100", "nominalQuota: 100100m")) != []
