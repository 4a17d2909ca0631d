"""What a model requests together, with numbers worked out by hand."""

import pytest

from tests.plan.model_specs import a100, models, quotas

TEAM = quotas("a", "pool: p, guarantee: 8")


@pytest.mark.parametrize(
    "fields, expected",
    [
        # units of one piece, then least, most and permanent pieces
        ("replicas: 3", (2, 3, 3, 3)),
        ("autoscaling: {minReplicas: 1, maxReplicas: 5}", (2, 1, 5, 1)),
        ("replicas: 3, gang: {size: 4}", (8, 3, 3, 3)),
        ("workload: training, replicas: 3", (2, 3, 3, 0)),
        ("workload: training, replicas: 3, gang: {size: 4}", (8, 1, 3, 0)),
        ("workload: batch, replicas: 3", (2, 1, 3, 0)),
        ("workload: batch, replicas: 3, gang: {size: 4}", (8, 1, 3, 0)),
    ],
)
def test_what_runs_at_one_time(planned, fields, expected):
    done = planned(a100(), TEAM, models("a", m=f"resources: {{gpus: 2}}, {fields}"))
    found = done.plan.workloads.assignments[0].replicas
    assert (found.piece["nvidia.com/gpu"], found.least, found.most, found.always) == expected


def test_pieces_are_counted_in_each_bound_and_by_each_resource(planned):
    text = models("a", m="resources: {gpus: 2, cpu: 4}, gang: {size: 2}, workload: training")
    found = planned(a100(), TEAM, text).plan.workloads.assignments[0].replicas
    assert found.piece == {"nvidia.com/gpu": 4, "cpu": 8000}
    bound = {"nvidia.com/gpu": 15, "cpu": 17000}
    assert found.pieces([bound], ["nvidia.com/gpu"]) == 3
    assert found.pieces([bound], ["nvidia.com/gpu", "cpu"]) == 2
    assert found.pieces([bound, bound], ["nvidia.com/gpu", "cpu"]) == 4
