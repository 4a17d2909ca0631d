"""The quotas that a spec states for pools without Kueue."""

from policygen.simulate.spec_quotas import spec_quotas


def test_guarantees_and_limits_of_teams_and_groups(planned, pool, team):
    made = planned(
        pool("v", gpus=64, scheduler="volcano"),
        pool("k", gpus=16),
        team("all", "guarantee: 24, limit: 32", namespaces=False).replace("pool: p", "pool: v"),
        team("a", "guarantee: 8", parent="all").replace("pool: p", "pool: v"),
        team("b", "guarantee: 16", parent="all").replace("pool: p", "pool: v"),
        team("c", "guarantee: 4").replace("pool: p", "pool: k"),
    )
    assert made.plan is not None, made.rules
    found = spec_quotas(made.plan.trees)
    gpu = "nvidia.com/gpu"
    assert found.teams == {("a", "v", gpu): (8, 32), ("b", "v", gpu): (16, 32)}
    assert found.groups == {("Queue all.v", "v", gpu): (24, 32)}
