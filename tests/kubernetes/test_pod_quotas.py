"""What ResourceQuotas count of pods."""

from fractions import Fraction

import msgspec
import pytest

from policygen.kubernetes.core import ResourceQuotaView
from policygen.kubernetes.pod_quotas import charge, counts, counts_pods, priority_class_of, unset
from policygen.kubernetes.workloads import PodSpec
from tests.objects import cluster

GPU = "nvidia.com/gpu"


def pod(**fields):
    return msgspec.convert(fields, PodSpec)


def container(requests=None, limits=None, **more):
    amounts = {
        name: {key: Fraction(it) for key, it in of.items()}
        for name, of in (("requests", requests or {}), ("limits", limits or {}))
    }
    return {"name": "main", "resources": amounts, **more}


def quota(hard=(), scopes=(), *expressions):
    selector = {"matchExpressions": list(expressions)} if expressions else None
    fields = {"hard": dict.fromkeys(hard, Fraction(1)), "scopes": list(scopes)}
    return msgspec.convert({**fields, "scopeSelector": selector}, ResourceQuotaView)


BIG = pod(
    containers=[container({"cpu": 2}, {"cpu": 4, GPU: 1}), container({"memory": 5})],
    initContainers=[container({"cpu": 3}, {"cpu": 9})],
)


@pytest.mark.parametrize(
    "key, amount",
    [
        ("pods", 1), ("count/pods", 1), ("cpu", 3), ("requests.cpu", 3), ("limits.cpu", 9),
        ("memory", 5), ("limits.memory", 0), (f"requests.{GPU}", 1), (f"limits.{GPU}", 0), (GPU, 0),
        ("services", 0), ("count/jobs.batch", 0),
    ],
)  # fmt: skip
def test_the_amount_of_a_key(key, amount):
    assert charge(BIG, key) == amount


def test_each_container_must_set_cpu_and_memory_that_a_quota_counts():
    hard = ("cpu", "requests.memory", "limits.cpu", f"requests.{GPU}", "pods")
    assert unset(quota(hard), BIG) == ("cpu", "requests.memory", "limits.cpu")
    full = pod(containers=[container({"memory": 1}, {"cpu": 1})])
    assert unset(quota(hard), full) == ()
    of_pod = pod(containers=[container()], resources={"requests": {"cpu": Fraction(1)}})
    assert unset(quota(hard), of_pod) == ()


@pytest.mark.parametrize(
    "scope, spec, matches",
    [
        ("Terminating", pod(activeDeadlineSeconds=5), True),
        ("Terminating", pod(), False),
        ("NotTerminating", pod(), True),
        ("BestEffort", pod(containers=[container({}, {GPU: 1})]), True),
        ("BestEffort", BIG, False),
        ("NotBestEffort", BIG, True),
        ("NotBestEffort", pod(containers=[container()]), False),
        ("PriorityClass", pod(), True),
        ("CrossNamespacePodAffinity", pod(), False),
        (
            "CrossNamespacePodAffinity",
            pod(
                affinity={
                    "podAffinity": {
                        "preferredDuringSchedulingIgnoredDuringExecution": [
                            {"weight": 1, "podAffinityTerm": {"namespaces": ["a"]}}
                        ]
                    }
                }
            ),
            True,
        ),
        (
            "CrossNamespacePodAffinity",
            pod(
                affinity={
                    "podAffinity": {"a": [None, 3, {"podAffinityTerm": 1}]},
                    "podAntiAffinity": [],
                }
            ),
            False,
        ),
        ("VolumeAttributesClass", pod(), False),
    ],
)
def test_scopes(scope, spec, matches):
    assert counts(quota((), [scope]), spec, "high") is matches


@pytest.mark.parametrize(
    "operator, values, class_, matches",
    [
        ("In", ["high"], "high", True),
        ("In", ["high"], "", False),
        ("NotIn", ["high"], "high", False),
        ("NotIn", ["high"], "", True),
        ("Exists", [], "", False),
        ("Exists", [], "low", True),
        ("DoesNotExist", [], "", True),
        ("DoesNotExist", [], "low", False),
    ],
)
def test_priority_classes(operator, values, class_, matches):
    one = {"scopeName": "PriorityClass", "operator": operator, "values": values}
    assert counts(quota((), (), one), pod(), class_) is matches
    both = quota((), ["Terminating"], one)
    assert counts(both, pod(), class_) is False


def test_the_default_class():
    classes = """
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: b}
value: 2
globalDefault: true
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: a}
value: 1
globalDefault: true
"""
    assert priority_class_of(cluster(classes), pod()) == "a"
    assert priority_class_of(cluster(classes), pod(priorityClassName="c")) == "c"
    assert priority_class_of(cluster(""), pod()) == ""


@pytest.mark.parametrize(
    ("key", "of_pods"),
    [("pods", True), ("requests.nvidia.com/gpu", True), ("limits.cpu", True), ("services", False)],
)
def test_keys_of_other_objects_count_no_pods(key, of_pods):
    assert counts_pods(key) is of_pods
