"""The share of a pool that a team gets by its weight."""

from tests.plan.model_specs import a100, messages
from tests.plan.quotas import quotas


def test_shares_are_floored_and_the_rest_stays_at_the_root(planned, pool, team):
    # 7 GPUs for 8 nodes' worth of 100 cores: 3 teams of 1, 2 and 3 GPUs.
    done = planned(
        pool(gpus=8, cpu="10001m", memory="10241Mi"),
        team("a", "guarantee: 1"),
        team("b", "guarantee: 2"),
        team("c", "guarantee: 3"),
    )
    queues = done.of("ClusterQueue")
    assert quotas(queues["a.p"])["cpu"][0] == "1250m"  # 10001 / 8 = 1250.125
    assert quotas(queues["b.p"])["cpu"][0] == "2500m"  # 2500.25
    assert quotas(queues["c.p"])["cpu"][0] == "3750m"  # 3750.375
    assert quotas(done.of("Cohort")["p"])["cpu"][0] == "2501m"  # 10001 - 7500
    assert quotas(queues["c.p"])["memory"][0] == "3840Mi"  # 10241 × 3 / 8 = 3840.375
    assert quotas(done.of("Cohort")["p"])["memory"][0] == "2561Mi"


def test_explicit_cpu_and_memory_replace_the_proportional_share(planned, pool, team):
    done = planned(
        pool(), team("a", 'guarantee: 8, cpu: {guarantee: "10", limit: "20"}, memory: {limit: 4Ti}')
    )
    assert quotas(done.of("ClusterQueue")["a.p"]) == {
        "cpu": ("10", "10", None),
        "memory": ("768Gi", "3328Gi", None),  # 4096Gi - 768Gi
        "nvidia.com/gpu": ("8", "56", None),
    }


def test_overcommit_ratio_shares_limits_out_by_weight(planned, pool, team):
    # 10 × 1.5 = 15 limits; c wrote 5, so 10 are left: 2 : 1 gives 6.67 and 3.33.
    done = planned(
        pool(gpus=10, more="schedulingPolicy: {overcommitRatio: 1.5}"),
        team("a", "weight: 2"),
        team("b"),
        team("c", "guarantee: 1, limit: 5"),
    )
    limits = {
        name: quotas(queue)["nvidia.com/gpu"][:2] for name, queue in done.of("ClusterQueue").items()
    }
    assert limits == {"a.p": ("0", "7"), "b.p": ("0", "3"), "c.p": ("1", "4")}


def test_proposed_guarantees_of_two_teams_fit_the_pool_together(planned, team):
    mig = a100(gpu=", sharing: mig, mig: {instances: {1g.5gb: 56, 2g.10gb: 8}}")
    done = planned(mig, team("a", "guarantee: 7, limit: 9"), team("b", "guarantee: 6"))
    proposed = [it.rpartition("; ")[2] for it in messages(done, "mig-quota-mismatch")]
    assert proposed == [
        "write guarantee: {1g.5gb: 7, 2g.10gb: 7}",
        "write limit: {1g.5gb: 9, 2g.10gb: 8}",
        "write guarantee: {1g.5gb: 6, 2g.10gb: 1}",
    ]
