"""An update creates one pod more only where the pool and the limit have room for it."""

import pytest

from tests.plan.model_specs import a100, models, quotas

NODE = "availability: {failureDomain: node}"


@pytest.mark.parametrize(
    "quota, fields, surge",
    [
        ("guarantee: 4, limit: 4", {"m": "gpus: 1}, replicas: 3"}, True),
        ("guarantee: 4, limit: 4", {"m": "gpus: 1}, replicas: 4"}, False),
        ("guarantee: 4, limit: 7", {"m": "gpus: 2}, replicas: 3"}, False),
        ("guarantee: 4, limit: 5", {"m": "gpus: 1}, replicas: 3", "o": "gpus: 2}"}, False),
        ("guarantee: 4, limit: 6", {"m": "gpus: 1}, replicas: 3", "o": "gpus: 2}"}, True),
        (
            "guarantee: 4, limit: 8",
            {"m": "gpus: 1}, autoscaling: {minReplicas: 2, maxReplicas: 8}"},
            False,
        ),
        ("guarantee: 4", {"m": "gpus: 5}, replicas: 7"}, True),
        ("guarantee: 4", {"m": "gpus: 5}, replicas: 8"}, False),
        ("guarantee: 4", {"m": f"gpus: 1}}, replicas: 3, {NODE}"}, True),
        ("guarantee: 4", {"m": f"gpus: 1}}, replicas: 8, {NODE}"}, False),
    ],
)
def test_an_update_without_room_deletes_a_pod_first(planned, quota, fields, surge):
    texts = {name: f"resources: {{{it}" for name, it in fields.items()}
    done = planned(
        a100(), quotas("a", f"pool: p, {quota}"), models("a", **texts), extras={"workloads"}
    )
    assert done.of("Deployment")["a-ns/m"].no_surge is not surge
