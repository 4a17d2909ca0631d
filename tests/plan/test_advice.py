"""Settings that can be rendered but have no effect."""

import pytest


def inert(done):
    assert done.plan is not None, done.findings
    return [it.message.split()[0] for it in done.findings if it.rule.name == "inert-setting"]


@pytest.mark.parametrize(
    "scheduler, more, told",
    [
        ("kueue", "topology: {levels: [rack]}", ["topology"]),
        ("kueue", "schedulingPolicy: {topologyAware: true}\ntopology: {levels: [rack]}", []),
        ("volcano", "topology: {levels: [rack]}", ["topology"]),
        ("volcano", "schedulingPolicy: {topologyAware: true}", ["schedulingPolicy.topologyAware"]),
        ("kueue", "quotaBackstop: true", []),
        ("kube-scheduler", "quotaBackstop: true", ["quotaBackstop"]),
        ("volcano", "quotaCpuAndMemory: true", ["quotaCpuAndMemory"]),
    ],
)
def test_settings_of_a_pool_that_its_scheduler_ignores(planned, pool, team, scheduler, more, told):
    done = planned(pool(scheduler=scheduler, more=more), team("a"))
    assert inert(done) == told


QUOTA = "guarantee: 1, weight: 2, cpu: {limit: 48}, memory: {limit: 400Gi}"


@pytest.mark.parametrize(
    "scheduler, more, told",
    [
        ("kueue", "", []),
        ("volcano", "", []),
        ("kube-scheduler", "", ["weight", "cpu", "memory"]),
        ("kube-scheduler", "schedulingPolicy: {overcommitRatio: 1}", ["cpu", "memory"]),
        ("kube-scheduler", "quotaCpuAndMemory: true", ["weight"]),
    ],
)
def test_numbers_of_a_quota_that_no_resource_quota_holds(
    planned, pool, team, scheduler, more, told
):
    defaults = "containerDefaults: {cpu: 1, memory: 1Gi}"
    done = planned(pool(scheduler=scheduler, more=more), team("a", QUOTA, more=defaults))
    assert sorted(inert(done)) == sorted(told)


MIXED = """
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: p}
spec:
  nodeSelector: {pool: p}
  gpu:
    product: NVIDIA-A100-SXM4-40GB
    sharing: mig
    mig: {instances: {1g.5gb: 32, 2g.10gb: 16, 3g.20gb: 16}}
  capacity: {nodes: 2, nodeType: p4d.24xlarge}
"""


@pytest.mark.parametrize(
    "quota, expected",
    [
        ("guarantee: {1g.5gb: 4}", []),
        ("limit: {1g.5gb: 4, 2g.10gb: 0, 3g.20gb: 16}", []),
        ("limit: {1g.5gb: 4, 3g.20gb: 16}", ["16 × 2g.10gb"]),
        ("limit: {1g.5gb: 4}", ["16 × 2g.10gb and 16 × 3g.20gb"]),
    ],
)
def test_a_limit_that_omits_profiles_is_noted_with_their_number(planned, team, quota, expected):
    done = planned(MIXED, team("a", quota))
    found = [it.message for it in done.findings if it.rule.name == "limit-omits-profiles"]
    assert [message.partition("use ")[2].partition(" of pool")[0] for message in found] == expected


@pytest.mark.parametrize(
    "host, expected",
    [
        ("cpu: {guarantee: 0, limit: 1}", "only 1 core, while 288 cores belong to these GPUs"),
        ("memory: {guarantee: 0, limit: 1Gi}", "only 1 GiB of memory, while"),
        ("cpu: {guarantee: 0, limit: 29}", None),  # a tenth of 24 x 12 cores
        ("cpu: {guarantee: 0}", None),
    ],
)
def test_a_limit_of_cpu_with_which_gpus_stay_idle(planned, pool, team, host, expected):
    done = planned(pool(), team("a", f"guarantee: 0, limit: 24, {host}"))
    found = [it.message for it in done.findings if it.rule.name == "host-quota-small"]
    assert [expected in it for it in found] == ([True] if expected else [])


def test_a_limit_of_zero_that_a_team_writes_is_intended(planned, pool, team):
    done = planned(
        pool(scheduler="kube-scheduler"),
        team("all", "limit: 0"),
        team("child", "weight: 2", parent="all"),
        team("other", "limit: 1"),
    )
    assert not {"limit-of-zero", "namespace-without-quota"} & set(done.rules)
    assert done.of("ResourceQuota")["all-ns/default"].hard == {"requests.nvidia.com/gpu": "0"}
