"""The autoscaling of a model, read from autoscalers by hand and from rendered ones."""

import pytest
import yaml

from policygen.adopt.scalers import autoscaling, prometheus, unstated
from policygen.adopt.trees import Scope
from policygen.documents.files import Source
from policygen.plan.extras import WORKLOADS
from policygen.spec.types import Autoscaling
from tests.adopt.round_trip import adopted, again, rendered
from tests.objects import cluster

EXTRAS = frozenset({WORKLOADS})
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: m, namespace: a}
spec: {template: {spec: {containers: [{name: main}]}}}
"""


def scaler(kind, spec):
    version = {"HorizontalPodAutoscaler": "autoscaling/v2", "ScaledObject": "keda.sh/v1alpha1"}
    target = "scaleTargetRef: {kind: Deployment, name: m}"
    return (
        f"{DEPLOYMENT}---\napiVersion: {version[kind]}\nkind: {kind}\n"
        f"metadata: {{name: m, namespace: a}}\nspec: {{{target}, {spec}}}"
    )


def pods(average="8", least=2, metric="{name: requests}"):
    return (
        f"minReplicas: {least}, maxReplicas: 9, metrics: [{{type: Pods, pods: {{metric: {metric}, "
        f"target: {{type: AverageValue, averageValue: {average}}}}}}}]"
    )


def trigger(query='sum(a:b{pod="c"})', threshold="16", kind="prometheus"):
    metadata = f"{{query: '{query}', threshold: '{threshold}', serverAddress: x}}"
    return (
        f"triggers: [{{type: {kind}, metadata: {metadata}}}], "
        "maxReplicaCount: 3, minReplicaCount: 1"
    )


@pytest.mark.parametrize(
    "kind, spec, expected",
    [
        ("HorizontalPodAutoscaler", pods(), Autoscaling(2, 9, 8, "requests")),
        ("HorizontalPodAutoscaler", pods("1k"), Autoscaling(2, 9, 1000, "requests")),
        ("HorizontalPodAutoscaler", pods("500m"), Autoscaling(2, 9)),
        ("HorizontalPodAutoscaler", pods("many"), Autoscaling(2, 9)),
        ("HorizontalPodAutoscaler", pods(least=0), Autoscaling(0, 9)),
        ("HorizontalPodAutoscaler", pods(metric="{name: r, selector: {x: y}}"), Autoscaling(2, 9)),
        ("HorizontalPodAutoscaler", "maxReplicas: 3", Autoscaling(1, 3)),
        ("HorizontalPodAutoscaler", "minReplicas: 1", None),
        ("ScaledObject", "maxReplicaCount: 3", Autoscaling(0, 3)),
        ("ScaledObject", trigger(), Autoscaling(1, 3, 16, "a:b")),
        ("ScaledObject", trigger(threshold="2.5"), Autoscaling(1, 3)),
        ("ScaledObject", trigger("rate(a[1m])"), Autoscaling(1, 3)),
        ("ScaledObject", trigger(kind="kafka"), Autoscaling(1, 3)),
        ("ScaledObject", "minReplicaCount: 1", Autoscaling(1, 100)),
        ("ScaledObject", "minReplicaCount: 5, maxReplicaCount: 3", Autoscaling(3, 3)),
        ("ScaledObject", trigger('sum(a{pod="c"}) / 2'), Autoscaling(1, 3)),
        ("ScaledObject", trigger(threshold="9999999"), Autoscaling(1, 3)),
        ("HorizontalPodAutoscaler", pods("100M"), Autoscaling(2, 9)),
        ("HorizontalPodAutoscaler", pods(least=-2), Autoscaling(0, 9)),
        ("HorizontalPodAutoscaler", "maxReplicas: 2147483647", Autoscaling(1, 1_000_000)),
        ("HorizontalPodAutoscaler", "maxReplicas: -3", None),
        ("HorizontalPodAutoscaler", pods(metric="{name: requests/s}"), Autoscaling(2, 9)),
    ],
)
def test_autoscalers_by_hand(kind, spec, expected):
    found = cluster(scaler(kind, spec))
    (workload,) = found.workloads
    assert autoscaling(found, workload) == expected


def test_what_a_model_cannot_state_of_an_autoscaler_is_listed():
    found = cluster(scaler("ScaledObject", trigger("x").replace("Count: 1", "Count: 4")))
    (workload,) = found.workloads
    metrics = (
        "the metrics of ScaledObject a/m are not in the spec; a Model has only the mean of one metric of its pods, "
        "as a whole number, and then at least 1 replica"
    )
    assert [*unstated(found, workload)] == [
        "ScaledObject a/m has at least 4 and at most 3 replicas; the model has at least 3 and at most 3",
        metrics,
    ]
    found = cluster(scaler("HorizontalPodAutoscaler", pods()))
    (workload,) = found.workloads
    assert [*unstated(found, workload)] == []


@pytest.mark.parametrize(
    "address, found",
    [("prometheus:9090", None), ("http://prometheus:9090", "http://prometheus:9090")],
)
def test_the_address_of_prometheus_is_a_url(address, found):
    """The spec refuses another text."""
    text = scaler("ScaledObject", trigger()).replace(
        "serverAddress: x", f"serverAddress: '{address}'"
    )
    assert prometheus(cluster(text), Scope("default", rendered=False)) == found


SPEC = """
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: p}
spec:
  nodeSelector: {pool: p}
  gpu: {product: h100-80gb}
  capacity: {nodes: 4, nodeType: a3-highgpu-8g}
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: web}
spec: {namespaces: [{name: web}], quotas: [{pool: p, guarantee: 4, limit: 8}]}
---
apiVersion: policygen.dev/v1alpha1
kind: Model
metadata: {name: chat}
spec:
  team: web
  resources: {gpus: 1}
  autoscaling: {minReplicas: 2, maxReplicas: MOST, targetConcurrency: 16, metric: "a:b"}
"""


KEDA = """
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata: {name: ml}
spec: {keda: {prometheus: "http://prometheus:9090"}}
---
"""


@pytest.mark.parametrize(
    "most, kind, field, head",
    [
        (6, "HorizontalPodAutoscaler", "maxReplicas", ""),
        (12, "HorizontalPodAutoscaler", "maxReplicas", ""),
        (12, "ScaledObject", "maxReplicaCount", KEDA),
    ],
)
def test_a_rendered_autoscaler_is_adopted(most, kind, field, head):
    """A maximum above the limit is not in the objects, so the spec has the limit."""
    text = head + SPEC.replace("MOST", str(most))
    first = rendered(Source("spec.yaml", text, None), extras=EXTRAS)
    inferred = adopted(first)
    (model,) = inferred.spec.models
    assert model.autoscaling == Autoscaling(2, min(most, 8), 16, "a:b")
    assert model.replicas is None
    assert not [it for it in inferred.guesses if it.kind == "Model"]
    assert again(first, EXTRAS) == first
    (scaler,) = (it for it in yaml.safe_load_all(first) if it["kind"] == kind)
    assert scaler["spec"][field] == min(most, 8)
