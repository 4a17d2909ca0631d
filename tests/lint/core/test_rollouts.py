"""The number of pods during a rolling update."""

import pytest

from policygen.core.finding import At
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.object import Object
from policygen.lint.core.rollouts import Rollout, rollout
from tests import objects


def update(**spec):
    """The rolling update of a Deployment."""
    data = {"spec": {"template": {}, **spec}}
    cluster = Cluster((Object(At(0), "apps/v1", "Deployment", "d", "", data),))
    return rollout(cluster, *cluster.workloads)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, Rollout(1, 1, 0)),
        ({"replicas": 4}, Rollout(4, 1, 1)),
        ({"replicas": 3}, Rollout(3, 1, 0)),
        (
            {"replicas": 4, "strategy": {"rollingUpdate": {"maxSurge": "100%"}}},
            Rollout(4, 4, 1),
        ),
        (
            {"replicas": 3, "strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "1%"}}},
            Rollout(3, 0, 1),
        ),
        ({"strategy": {"type": "Recreate"}}, None),
    ],
)
def test_a_rolling_update_in_pods(spec, expected):
    assert update(**spec) == expected


SERVED = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: a, namespace: n}
spec:
  replicas: 1
  selector: {matchLabels: {app: a}}
  template: {metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: a}]}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: a, namespace: n, labels: {app.kubernetes.io/managed-by: %s}}
spec: {minAvailable: 1, selector: {matchLabels: {app: a}}}
"""


@pytest.mark.parametrize(
    ("tool", "remedy"),
    [
        ("helm", "write maxUnavailable: 1 instead of minAvailable"),
        ("policygen", "write more than 1 replicas, as in the model"),
    ],
)
def test_a_rendered_budget_keeps_its_number(lint, tool, remedy):
    """It follows from the model, so the replicas of the workload are wrong."""
    found = [it for it in lint(SERVED % tool).findings if it.rule.name == "budget-blocks-drain"]
    assert [it.message.rpartition("; ")[2] for it in found] == [remedy]


@pytest.mark.parametrize(("least", "expected"), [(4, Rollout(4, 1, 1)), (3, Rollout(3, 1, 0))])
def test_an_autoscaler_raises_the_replicas_to_its_minimum(least, expected):
    deployment = SERVED.partition("---")[0]
    autoscaler = f"""---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{name: a, namespace: n}}
spec: {{minReplicas: {least}, maxReplicas: 8, scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: a}}}}
"""
    made = objects.cluster(deployment + autoscaler)
    assert rollout(made, *made.workloads) == expected
    assert rollout(made, *made.workloads, 2) == Rollout(2, 1, 0)
