"""PriorityClasses, and the workloads with GPUs by class."""

import pytest

from policygen.core.finding import At
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.object import Object
from policygen.lint.core import priorities
from policygen.lint.core.rules import all_pods_highest_priority
from tests.objects import facts


def workload(number, kind, spec, api_version="v1", **labels):
    return Object(
        At(number),
        api_version,
        kind,
        f"w{number}",
        "team",
        {"metadata": {"labels": labels}, "spec": spec},
    )


def pod_spec(gpus, priority=None):
    limits = {"nvidia.com/gpu": gpus} if gpus else {"cpu": 1}
    spec = {"containers": [{"name": "main", "resources": {"limits": limits}}]}
    return {**spec, "priorityClassName": priority} if priority else spec


def test_workloads_with_gpus_by_the_class_of_their_pods():
    tasks = [{"replicas": 1, "template": {"spec": pod_spec(1)}}]
    objects = (
        workload(0, "Pod", pod_spec(1, "high")),
        workload(1, "Pod", pod_spec(0, "high")),  # without a GPU
        workload(2, "Pod", pod_spec(1)),
        workload(
            3, "Job", {"priorityClassName": "low", "tasks": tasks}, "batch.volcano.sh/v1alpha1"
        ),
        workload(4, "Pod", pod_spec(1, "high"), **{"kueue.x-k8s.io/priority-class": "urgent"}),
    )
    found = priorities.classes_of_gpu_workloads(Cluster(objects))
    assert {name: [it.name for it in workloads] for name, workloads in found.items()} == {
        "high": ["w0"],
        "": ["w2"],
        "low": ["w3"],
    }


def test_classes_of_kubernetes_are_no_own_classes():
    objects = tuple(
        Object(At(i), "scheduling.k8s.io/v1", "PriorityClass", name, "", {"value": i})
        for i, name in enumerate(("low", "system-node-critical"))
    )
    assert [it.name for it in priorities.own_classes(Cluster(objects))] == ["low"]


@pytest.mark.parametrize(("value", "hits"), [(1000000000, 1), (1000, 0)])
def test_a_single_default_class_of_the_highest_value_leaves_no_higher_one(value, hits):
    text = f"""
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {{name: default}}
value: {value}
globalDefault: true
"""
    found = list(all_pods_highest_priority.check(facts(text)))
    assert [it.at.path for it in found] == [("value",)] * hits


def test_the_rank_in_a_name():
    ranks = [
        priorities.named_rank(it) for it in ("batch-low", "batch-high", "high-high", "serving")
    ]
    assert ranks == [("batch-*", 0), ("batch-*", 2), None, None]
