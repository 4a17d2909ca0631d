"""The limits of ResourceQuotas: the lowest applies."""

import pytest

from policygen.lint.core.namespace_quotas import bounds, quota_excesses
from policygen.lint.core.rules import autoscaler_exceeds_quota, workloads_exceed_resource_quota
from tests.objects import cluster, facts


def quota(name, hard, namespace="n", more=""):
    return (
        f"{{apiVersion: v1, kind: ResourceQuota, metadata: {{name: {name}, namespace: {namespace}}}, "
        f"spec: {{hard: {{{hard}}}{more}}}}}\n---\n"
    )


def test_the_lowest_of_several_applies_and_scopes_do_not_count():
    text = quota("a", "pods: 5, cpu: 2") + quota("b", "pods: 3") + quota("c", "pods: 9", "other")
    text += quota("d", "pods: 1", more=", scopes: [BestEffort]")
    found = bounds(cluster(text.removesuffix("---\n")))
    assert {
        (namespace, key): (it.quota.name, it.limit)
        for namespace, limits in found.items()
        for key, it in limits.items()
    } == {("n", "pods"): ("b", 3), ("n", "cpu"): ("a", 2), ("other", "pods"): ("c", 9)}


def pods(name, number, resources):
    return (
        f"{{apiVersion: apps/v1, kind: StatefulSet, metadata: {{name: {name}, namespace: n}}, spec: {{replicas: {number}, "
        f"template: {{spec: {{containers: [{{name: c, resources: {{{resources}}}}}]}}}}}}}}\n---\n"
    )


def test_requests_limits_and_pods_of_each_workload_count():
    hard = "requests.cpu: 4, limits.cpu: 8, memory: 1Gi, pods: 3, requests.nvidia.com/gpu: 2"
    text = quota("a", hard) + pods("small", 2, "limits: {cpu: 2, nvidia.com/gpu: 1}")
    text += pods("many", 4, "requests: {cpu: 1}") + pods("large", 3, "limits: {cpu: 3}")
    found = quota_excesses(cluster(text.removesuffix("---\n")))
    assert {it.key: [(each.name, int(needs)) for each, needs in it.workloads] for it in found} == {
        "pods": [("many", 4)],
        "requests.cpu": [("large", 9)],
        "limits.cpu": [("large", 9)],
    }


def test_init_containers_and_count_pods_count():
    init = "{name: i, resources: {limits: {cpu: 6}}}"
    large = pods("large", 2, "limits: {cpu: 1}").replace(
        "containers:", f"initContainers: [{init}], containers:"
    )
    text = quota("a", "limits.cpu: 8, count/pods: 1") + large
    found = quota_excesses(cluster(text.removesuffix("---\n")))
    assert {(it.key, it.resource, int(it.workloads[0][1])) for it in found} == {
        ("limits.cpu", "cpu", 12),
        ("count/pods", "pods", 2),
    }


def test_the_minimum_of_an_autoscaler_counts():
    scaler = (
        "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: h, namespace: n}, "
        "spec: {scaleTargetRef: {kind: StatefulSet, name: s}, minReplicas: %s, maxReplicas: 9}}"
    )
    text = quota("a", "pods: 4") + pods("s", 2, "limits: {cpu: 1}")
    for least, found in ((4, []), (5, [5])):
        excesses = quota_excesses(cluster(text + scaler % least))
        assert [int(needs) for it in excesses for _, needs in it.workloads] == found


SCALER = (
    "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: h, namespace: n}, spec: {"
    "scaleTargetRef: {apiVersion: apps/v1, kind: StatefulSet, name: serve}, minReplicas: %d, maxReplicas: %d}}\n"
)
GPUS = "requests.nvidia.com/gpu: 8"


def test_workloads_that_do_not_end_share_a_quota():
    text = quota("a", f"{GPUS}, limits.cpu: 10, pods: 20, requests.memory: 1Gi")
    text += pods("serve", 5, "limits: {cpu: 1, nvidia.com/gpu: 1}")
    text += pods("alone", 9, "limits: {cpu: 1, nvidia.com/gpu: 1}")  # another rule reports its GPUs
    text += pods("embed", 2, "limits: {cpu: 3, nvidia.com/gpu: 2}")
    [hit] = workloads_exceed_resource_quota.check(facts(text.removesuffix("---\n")))
    assert hit.message == (
        "StatefulSet n/serve (5 nvidia.com/gpu), StatefulSet n/embed (4 nvidia.com/gpu) and StatefulSet "
        "n/alone (9 cores) together need 9 nvidia.com/gpu and 20 cores for limits.cpu, but ResourceQuota "
        "n/a allows 8 and 10 cores, so the API server refuses the last pods; run fewer pods, request less, "
        "or raise the quota"
    )


def test_workloads_within_a_quota_are_sound():
    text = quota("a", f"{GPUS}, pods: 7") + pods("serve", 4, "limits: {nvidia.com/gpu: 1}")
    text += pods("embed", 2, "limits: {nvidia.com/gpu: 2}")
    assert not list(workloads_exceed_resource_quota.check(facts(text.removesuffix("---\n"))))


@pytest.mark.parametrize(
    ("least", "most", "advice"),
    [
        (1, 4, ""),
        (1, 6, "allows only 4 beside StatefulSet n/embed (requests.nvidia.com/gpu: 8), so the API server refuses the others; set maxReplicas to 4, or raise the quota"),
        (5, 6, ""),  # the sum of the minimum and the other workload is reported
    ],
)  # fmt: skip
def test_the_maximum_of_an_autoscaler_leaves_room_for_other_workloads(least, most, advice):
    text = quota("a", GPUS) + pods("serve", 1, "limits: {nvidia.com/gpu: 1}")
    text += pods("embed", 2, "limits: {nvidia.com/gpu: 2}") + SCALER % (least, most)
    found = [it.message for it in autoscaler_exceeds_quota.check(facts(text))]
    assert [it.endswith(advice) for it in found] == [True] * bool(advice)
    assert bool([*workloads_exceed_resource_quota.check(facts(text))]) == (least > 4)
