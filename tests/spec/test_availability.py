"""An availability that no budget can keep is refused, with the field to change."""

import pytest

from tests.plan.model_specs import a100, models, quotas

NODE = "availability: {failureDomain: node}"


def faults(planned, fields):
    texts = a100(), quotas("a", "pool: p"), models("a", m=f"resources: {{gpus: 1}}, {fields}")
    return [it.message for it in planned(*texts).findings if it.rule.name == "invalid-value"]


@pytest.mark.parametrize(
    "fields, remedy",
    [
        (NODE, "write replicas: 2 or more, or remove availability"),
        (f"workload: batch, replicas: 3, {NODE}", "or write workload: serving"),
        (f"gang: {{size: 2}}, replicas: 3, {NODE}", "remove availability or gang"),
        (
            f"autoscaling: {{minReplicas: 0, maxReplicas: 4}}, {NODE}",
            "write minReplicas: 2 or more, or remove availability",
        ),
        (
            "replicas: 3, availability: {failureDomain: none, minAvailable: 3}",
            "write minAvailable: 2 or less",
        ),
    ],
)
def test_impossible_availability(planned, fields, remedy):
    (message,) = faults(planned, fields)
    assert message.endswith(remedy)


def test_the_minimum_of_an_autoscaler_counts(planned):
    fields = "replicas: 1, autoscaling: {minReplicas: 3, maxReplicas: 4}, availability:"
    assert not faults(planned, f"{fields} {{failureDomain: zone, minAvailable: 2}}")
    assert faults(planned, f"{fields} {{failureDomain: zone, minAvailable: 3}}")
