"""The minimum and maximum of autoscalers."""

from policygen.lint.core.autoscalers import autoscalers
from policygen.lint.core.rules import autoscaler_exceeds_quota
from tests.objects import cluster, facts

TEXT = """
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: llm, namespace: a}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: StatefulSet, name: llm}, maxReplicas: 9}
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: detector, namespace: a}
spec: {scaleTargetRef: {name: detector}}
"""


def test_an_autoscaler_of_keda_scales_a_deployment_to_100_by_default():
    found = cluster(TEXT).derive(autoscalers)
    assert {target: it.most for target, it in found.items()} == {
        ("a", "StatefulSet", "llm"): 9,
        ("a", "Deployment", "detector"): 100,
    }


def test_only_keda_starts_a_target_with_0_replicas():
    """Replicas of 0 switch a HorizontalPodAutoscaler off."""
    found = cluster(TEXT.replace("name: detector}}", "name: detector}, minReplicaCount: 2}"))
    found = {name: it.pods for (_, _, name), it in found.derive(autoscalers).items()}
    assert [found["llm"](it) for it in (0, 1, 3)] == [0, 1, 3]
    assert [found["detector"](it) for it in (0, 1, 3)] == [2, 2, 3]


def test_a_target_without_a_template_exceeds_no_quota():
    it = facts("""
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: vision}
spec: {replicas: 1, selector: {matchLabels: {app: web}}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: vision}
spec: {maxReplicas: 9, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: limits, namespace: vision}
spec: {hard: {pods: 4}}
""")
    assert not list(autoscaler_exceeds_quota.check(it))
