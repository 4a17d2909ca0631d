"""Requirements that cannot be rendered."""

import pytest

OTHER = "perNode: 8\n    resource: example.com/gpu"


@pytest.mark.parametrize(
    ("schedulers", "same", "more", "rules"),
    [
        (("kube-scheduler", "kube-scheduler"), True, "", ["quota-cannot-tell-pools-apart"]),
        (("kube-scheduler", "kueue"), True, "", ["quota-cannot-tell-pools-apart"]),
        (("kueue", "kueue"), True, "", []),
        (("kube-scheduler", "kube-scheduler"), False, "", []),
        (("kube-scheduler", "kueue"), False, "quotaCpuAndMemory: true", ["quota-counts-other-pools"]),
    ],
)  # fmt: skip
def test_a_resource_quota_adds_up_pools_of_one_resource(
    planned, pool, team, schedulers, same, more, rules
):
    one = pool("p", scheduler=schedulers[0], more=more)
    other = pool("q", scheduler=schedulers[1])
    other = other if same else other.replace("perNode: 8", OTHER)
    lab = team("lab", "guarantee: 1, limit: 2", more="containerDefaults: {cpu: 1, memory: 1Gi}")
    found = planned(
        one, other, lab.replace("limit: 2}]", "limit: 2}, {pool: q, guarantee: 1, limit: 2}]")
    )
    assert [it for it in found.rules if it.startswith("quota-c")] == rules
    assert (found.plan is None) is ("quota-cannot-tell-pools-apart" in rules)


def test_quotas_of_cpu_need_defaults_of_containers(planned, pool, team):
    it = pool(scheduler="kube-scheduler", more="quotaCpuAndMemory: true")
    assert "container-defaults-missing" in planned(it, team("a", "guarantee: 1, limit: 2")).rules
    sound = team("a", "guarantee: 1, limit: 2", more="containerDefaults: {cpu: 1, memory: 1Gi}")
    assert "container-defaults-missing" not in planned(it, sound).rules
