"""Why the autoscaler of a model has its bounds, with numbers worked out by hand."""

from textwrap import dedent

import pytest

from policygen.app import explain_object
from tests.explain import walk
from tests.plan.model_specs import a100, models, quotas

HPA, KEDA = "HorizontalPodAutoscaler/a-ns/m", "ScaledObject/a-ns/m"
VPA = "VerticalPodAutoscaler/a-ns/m"
PLATFORM = """
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata: {name: ml}
spec: {keda: {prometheus: "http://prometheus:9090"}}
"""


def opened(folder, *spec):
    path = folder / "spec.yaml"
    path.write_text("---\n".join(dedent(it).lstrip("\n") for it in spec))
    return walk.opened(path)


@pytest.mark.parametrize(
    "field, each, expected",
    [
        (
            "maxReplicas",
            "gpus: 2",
            ["15", "floor(15 / 2) = 7", "9", "max(1, min(9, 7)) = 7"],
        ),
        (
            "minReplicas",
            "gpus: 2",
            ["5", "floor(5 / 2) = 2", "4", "7", "max(1, min(4, 2, 7)) = 2"],
        ),
        (
            "maxReplicas",
            "gpus: 2, cpu: 5",
            [
                "15", "floor(15 / 2) = 7", "20000", "floor(20000 / 5000) = 4", "min(7, 4) = 4", "9",
                "max(1, min(9, 4)) = 4",
            ],
        ),
    ],
)  # fmt: skip
def test_the_arithmetic_names_what_bounds_the_replicas(tmp_path, field, each, expected):
    scaling = "minReplicas: 4, maxReplicas: 9, metric: requests, targetConcurrency: 8"
    quota = "pool: p, guarantee: 5, limit: 15, cpu: {guarantee: 20, limit: 20}"
    text = f"resources: {{{each}}}, autoscaling: {{{scaling}}}"
    spec = [a100(), quotas("a", quota), models("a", m=text)]
    found = opened(tmp_path, *spec)
    (answer,) = explain_object.explain(found, HPA, f"spec.{field}").fields
    shown = [" = ".join(filter(None, (it.formula, it.value))) for it in answer.steps]
    assert shown == expected
    (average,) = explain_object.explain(
        found, HPA, "spec.metrics[0].pods.target.averageValue"
    ).fields
    assert average.steps[-1].at.path == ("spec", "autoscaling", "targetConcurrency")
    assert list(walk.faults(found)) == []


def test_every_field_of_keda_has_a_meaning_and_a_place(tmp_path):
    scaling = "minReplicas: 4, maxReplicas: 9, metric: requests, targetConcurrency: 8"
    text = models("a", m=f"resources: {{gpus: 2}}, autoscaling: {{{scaling}}}")
    found = opened(
        tmp_path, PLATFORM, a100(), quotas("a", "pool: p, guarantee: 5, limit: 15"), text
    )
    assert list(walk.faults(found)) == []
    (mode,) = explain_object.explain(found, VPA, "spec.updatePolicy.updateMode").fields
    assert (mode.steps[-1].value, bool(mode.steps[-1].note)) == ("Off", True)
    places = {
        field: explain_object.explain(found, KEDA, f"spec.{field}").fields[0].steps[-1]
        for field in ("minReplicaCount", "maxReplicaCount", "triggers[0].metadata.serverAddress")
    }
    assert [it.value for it in places.values()] == ["2", "7", "http://prometheus:9090"]
    (*_, address) = places.values()
    assert address.at.path == ("spec", "keda", "prometheus")


def test_the_nodes_bound_the_replicas(tmp_path):
    """Eight nodes of 8 GPUs."""
    scaling = "minReplicas: 1, maxReplicas: 20, metric: requests, targetConcurrency: 8"
    text = models("a", m=f"resources: {{gpus: 5}}, autoscaling: {{{scaling}}}")
    found = opened(tmp_path, a100(), quotas("a", "pool: p, guarantee: 64"), text)
    (answer,) = explain_object.explain(found, HPA, "spec.maxReplicas").fields
    shown = [" = ".join(filter(None, (it.formula, it.value))) for it in answer.steps]
    limit = ["64", "floor(64 / 5) = 12"]
    nodes = ["8", "floor(8 / 5) = 1", "8", "8 × 1 = 8"]
    assert shown == [*limit, *nodes, "20", "max(1, min(20, 12, 8)) = 8"]
    assert list(walk.faults(found)) == []


def test_what_a_queue_of_volcano_deserves_is_not_called_its_guarantee(tmp_path):
    """It is more than the guarantee, and not guaranteed: only reclaim takes it back."""
    scaling = "minReplicas: 4, maxReplicas: 9, metric: requests, targetConcurrency: 8"
    text = models("a", m=f"resources: {{gpus: 2, cpu: 5}}, autoscaling: {{{scaling}}}")
    pool = a100(more="      scheduler: volcano")
    found = opened(tmp_path, pool, quotas("a", "pool: p, guarantee: 5, limit: 15"), text)
    (answer,) = explain_object.explain(found, HPA, "spec.minReplicas").fields
    names = [it.name for it in answer.steps]
    assert "replicas within what the queue deserves" in names
    assert not any("guarantee" in it for it in names)
    assert "Volcano" in answer.meaning.does
