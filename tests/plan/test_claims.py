"""What no other team can reclaim from a team."""

import pytest

from policygen.plan.claims import claims
from tests.plan.model_specs import a100, models, quotas


@pytest.mark.parametrize(
    "scheduler, preemption, expected",
    [
        ("kueue", "true", {"a": 8, "b": 40}),
        # Of 64, the teams divide 16 by weight, 3 to 1.
        ("volcano", "true", {"a": 20, "b": 44}),
        ("volcano", "false", {"a": 8, "b": 40}),
    ],
)
def test_volcano_adds_the_share_by_weight(planned, scheduler, preemption, expected):
    pool = a100(
        more=f"      scheduler: {scheduler}\n"
        f"      schedulingPolicy: {{preemptionEnabled: {preemption}}}"
    )
    teams = (
        quotas("a", "pool: p, guarantee: 8, weight: 3"),
        quotas("b", "pool: p, guarantee: 40"),
    )
    (tree,) = planned(pool, *teams, models("a", m="resources: {gpus: 1}")).plan.trees
    found = {name: of["p"]["nvidia.com/gpu"] for name, of in claims(tree).items()}
    assert found == expected
