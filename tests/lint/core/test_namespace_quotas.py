"""The limits of ResourceQuotas: the lowest applies."""

from policygen.lint.core.namespace_quotas import bounds, quota_excesses
from tests.objects import cluster


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
