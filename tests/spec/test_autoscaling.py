"""A metric that cannot scale a model is refused, with the field to change."""

import pytest

from policygen.core.rule import Severity
from tests.plan.model_specs import a100, models, quotas

GOOD = "minReplicas: 1, targetConcurrency: 4"


def faults(planned, fields):
    texts = a100(), quotas("a", "pool: p"), models("a", m=f"resources: {{gpus: 1}}, {fields}")
    return [it.message for it in planned(*texts).findings if it.rule.name == "invalid-value"]


def scaling(fields):
    return f"autoscaling: {{maxReplicas: 4, metric: requests, {fields}}}"


@pytest.mark.parametrize(
    "fields, remedy",
    [
        (
            f"workload: batch, {scaling(GOOD)}",
            "workload: serving",
        ),
        (f"gang: {{size: 2}}, {scaling(GOOD)}", "or gang"),
        (
            scaling("minReplicas: 0, targetConcurrency: 4"),
            "minReplicas: 1 or more, or remove metric",
        ),
        (scaling("minReplicas: 1"), "write targetConcurrency, the number of requests in flight"),
    ],
)
def test_a_metric_that_cannot_scale(planned, fields, remedy):
    (message,) = faults(planned, fields)
    assert remedy in message


def test_a_target_that_is_no_number_is_not_called_missing(planned):
    fields = scaling("minReplicas: 1, targetConcurrency: 0.5")
    texts = a100(), quotas("a", "pool: p"), models("a", m=f"resources: {{gpus: 1}}, {fields}")
    (found,) = planned(*texts).findings
    assert "0.5 is a fraction" in found.message


def test_a_metric_has_a_name_of_prometheus(planned):
    texts = models("a", m=f"resources: {{gpus: 1}}, {scaling(GOOD)}")
    done = planned(a100(), quotas("a", "pool: p"), texts)
    assert done.plan.workloads.assignments[0].model.autoscaling.metric == "requests"
    wrong = texts.replace("metric: requests", "metric: nvidia.com/gpu")
    (found,) = planned(a100(), quotas("a", "pool: p"), wrong).findings
    assert found.rule.severity == Severity.ERROR
    assert '"nvidia.com/gpu" is not a valid metric of Prometheus' in found.message


def test_keda_needs_the_url_of_prometheus(planned):
    platform = """
    apiVersion: policygen.dev/v1alpha1
    kind: Platform
    metadata: {name: ml}
    spec: {keda: {prometheus: "prometheus:9090"}}
    """
    (found,) = planned(platform, a100(), quotas("a", "pool: p")).findings
    assert "is not a valid URL; write http:// or https:// and a host" in found.message
