"""The taints of pools in which a team has no share."""

from policygen.plan import pool_taints
from policygen.plan.decisions import Decisions
from tests.plan.model_specs import a100, quotas

TAINTS = (
    "taints: [{key: gpu, value: %s, effect: NoSchedule}, {key: soft, effect: PreferNoSchedule}]"
)


def test_only_taints_that_no_own_pool_has_keep_pods_out(planned):
    done = planned(
        a100("p", more="      " + TAINTS % "p"),
        a100("q", more="      " + TAINTS % "q"),
        a100("r", more="      " + TAINTS % "p"),
        quotas("a", "pool: p"),
        quotas("b", "pool: q", "pool: r"),
    )
    plan = done.plan
    decided = Decisions(done.loaded.spec, plan.pools, plan.trees, plan.workloads)
    own = {name: {it.name for it in pool_taints.pools_of(decided, f"{name}-ns")} for name in "ab"}
    assert own == {"a": {"p"}, "b": {"q", "r"}}
    (first,) = pool_taints.others(plan.pools, pool_taints.pools_of(decided, "a-ns")).items()
    assert first[0] == "gpu=q:NoSchedule"
    assert first[1].value == "q"
    assert not pool_taints.others(plan.pools, pool_taints.pools_of(decided, "b-ns"))
