"""A wrong amount in a queue, a ResourceQuota or a LimitRange is one finding, at that amount."""

from copy import deepcopy

import pytest
import yaml

from tests.lint.linting import found_in
from tests.lint.test_batch_manifests import KUEUE, MANIFESTS

QUOTAS = """
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: compute, namespace: %(namespace)s}
spec: {hard: {requests.cpu: 96, requests.memory: 1000Gi, requests.nvidia.com/gpu: 8}}
---
apiVersion: v1
kind: LimitRange
metadata: {name: defaults, namespace: %(namespace)s}
spec: {limits: [{type: Container, default: {cpu: 8, memory: 64Gi}, defaultRequest: {cpu: 8, memory: 64Gi}}]}
"""
CPU, MEMORY, GPU = "requests.cpu", "requests.memory", "requests.nvidia.com/gpu"
FLAVOR = ("spec", "resourceGroups", 0, "flavors", 0, "resources")
EXCESS, BELOW = "quota-exceeds-capacity", "resource-quota-below-queue"
OF_QUEUES = [
    (0, "9600", EXCESS),
    (0, "960", EXCESS),
    (0, "96Gi", "unit-of-bytes-misused"),
    (0, "9", None),
    (0, 0, "gpu-quota-without-cpu"),
    (1, "10000Gi", EXCESS),
    (1, "1000Ti", EXCESS),
    (1, "1000", "memory-quota-without-unit"),
    (2, "80", EXCESS),
    (2, "800", EXCESS),
    (2, "8m", "quota-fractional"),
    (2, 0, "cohort-preemption-ignored"),
]
"""The index of a resource, an amount of it, and the rule that reports it; None: another one for each queue."""
OF_NAMESPACES = [
    ("ResourceQuota", ("hard", CPU), 9, None),
    ("ResourceQuota", ("hard", CPU), "96m", "gpu-quota-without-cpu"),
    ("ResourceQuota", ("hard", MEMORY), "100Gi", None),
    ("ResourceQuota", ("hard", MEMORY), "1000", None),
    ("ResourceQuota", ("hard", GPU), 1, "workload-exceeds-resource-quota"),
    ("ResourceQuota", ("hard", GPU), "8m", "gpu-quota-fractional"),
    ("LimitRange", ("limits", 0, "default", "memory"), 64, "memory-without-unit"),
    ("LimitRange", ("limits", 0, "default", "cpu"), "8m", "limit-range-amount-refused"),
    ("LimitRange", ("limits", 0, "defaultRequest", "cpu"), 80, "limit-range-amount-refused"),
    ("LimitRange", ("limits", 0, "defaultRequest", "memory"), "640Gi", "limit-range-amount-refused"),
]  # fmt: skip


def base():
    text = (MANIFESTS / KUEUE).read_text("utf-8")
    return text + "".join(QUOTAS % {"namespace": it} for it in ("vision", "nlp"))


OBJECTS = [*yaml.safe_load_all(base())]


def changed(kind, team, path, value):
    made = deepcopy(OBJECTS)
    [holder] = [
        it
        for it in made
        if it["kind"] == kind and team in (it["metadata"]["name"], it["metadata"].get("namespace"))
    ]
    *above, last = path
    for step in above:
        holder = holder[step]
    holder[last] = value
    return yaml.safe_dump_all(made)


def test_the_set_is_sound(tmp_path):
    assert found_in(tmp_path, base()) == ()


@pytest.mark.parametrize("team", ["vision", "nlp"])
@pytest.mark.parametrize(("index", "value", "rule"), OF_QUEUES)
def test_a_quota_of_a_queue_is_one_finding(tmp_path, team, index, value, rule):
    path = (*FLAVOR, index, "nominalQuota")
    found = found_in(tmp_path, changed("ClusterQueue", team, path, value))
    assert [it.rule.name for it in found] == [rule or found[0].rule.name]
    assert rule is None or f"ClusterQueue {team}" in found[0].message


@pytest.mark.parametrize("team", ["vision", "nlp"])
@pytest.mark.parametrize(("kind", "path", "value", "rule"), OF_NAMESPACES)
def test_an_amount_of_a_namespace_is_one_finding(tmp_path, team, kind, path, value, rule):
    found = found_in(tmp_path, changed(kind, team, ("spec", *path), value))
    assert [it.rule.name for it in found] == [rule or found[0].rule.name]
    assert team in found[0].message
