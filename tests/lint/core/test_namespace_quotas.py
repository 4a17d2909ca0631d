"""The limits of ResourceQuotas: the lowest applies."""

from policygen.lint.core.namespace_quotas import bounds
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
