"""The fields that pods must set."""

import pytest

from policygen.plan.pods import requests
from tests.plan.model_specs import a100, model, models, quotas


def test_pods_name_their_nodes_where_the_queue_has_pools_that_they_may_not_use(planned, team):
    platform = """
    apiVersion: policygen.dev/v1alpha1
    kind: Platform
    metadata: {name: set}
    spec: {sharedQueues: [{name: all, pools: [p, q]}]}
    """
    both = team("a", "guarantee: 8").replace("guarantee: 8}", "guarantee: 8}, {pool: q}")
    for placement, told in (("{pools: [p]}", True), ("{pools: [q, p]}", False), ("{}", False)):
        text = model(f"      placement: {placement}")
        done = planned(platform, a100(), a100("q"), both, text)
        [note] = [it.message for it in done.findings if it.rule.name == "pods-must-carry"]
        assert ("nodeSelector pool: p" in note) == told


@pytest.mark.parametrize(
    "scheduler, words",
    [
        ("kueue", ["label kueue.x-k8s.io/queue-name: p", "schedulerName: default.binpack"]),
        ("volcano", ["schedulerName: volcano", "scheduling.volcano.sh/queue-name: a.p"]),
        ("kube-scheduler", ["schedulerName: default.binpack", "nodeSelector pool: p"]),
    ],
)
def test_what_pods_must_carry(planned, team, scheduler, words):
    pool = a100(more=f"      scheduler: {scheduler}")
    done = planned(pool, team("a", "guarantee: 8"), model())
    (note,) = [it.message for it in done.findings if it.rule.name == "pods-must-carry"]
    for word in ["nvidia.com/gpu: 1", "namespace a-ns", *words]:
        assert word in note


@pytest.mark.parametrize(
    ("scheduler", "workload", "run_as", "kind"),
    [
        ("kueue", "training", "vcjob", "Job"),
        ("kueue", "serving", "vcjob", "StatefulSet"),
        ("kueue", "serving", "job", "StatefulSet"),
        ("kueue", "training", "job", ""),
        ("kueue", "serving", "lws", ""),
        ("kueue", "training", "pods", ""),
        ("volcano", "training", "vcjob", ""),
    ],
)
def test_a_form_of_a_gang_without_effect_on_kueue(planned, team, scheduler, workload, run_as, kind):
    gang = f"      workload: {workload}\n      gang: {{size: 2, runAs: {run_as}}}"
    pool = a100(more=f"      scheduler: {scheduler}")
    done = planned(pool, team("a", "guarantee: 8"), model(gang))
    found = [it for it in done.findings if it.rule.name == "inert-setting"]
    assert [f"the gang runs as a {kind}; remove runAs" in it.message for it in found] == [
        True
    ] * bool(kind)
    assert [it.path for it in found] == ["spec.gang.runAs"] * bool(kind)


def test_a_model_of_a_team_with_children_joins_the_own_leaf(planned, team):
    done = planned(
        a100(),
        team("a", "guarantee: 8"),
        team("b", "guarantee: 4", parent="a"),
        model(),
    )
    (found,) = done.plan.workloads.assignments
    assert found.queue == "a.own.p"


def test_the_share_of_a_mig_instance_leaves_room_for_all_instances_of_the_fullest_node(planned):
    """One of three nodes has 17 and 7 instances, so 38 slices; the mean of the nodes is 36.7."""
    pool = """
    apiVersion: policygen.dev/v1alpha1
    kind: ResourcePool
    metadata: {name: p}
    spec:
      nodeSelector: {pool: p}
      gpu:
        product: NVIDIA-H100-80GB-HBM3
        perNode: 8
        sharing: mig
        mig: {instances: {1g.10gb: 50, 3g.40gb: 20}}
      capacity: {nodes: 3, nodeAllocatable: {cpu: 100, memory: 1000Gi}}
    """
    quota = quotas("a", "pool: p, guarantee: {1g.10gb: 50, 3g.40gb: 20}")
    sizes = {"small": "gpuMemory: 8Gi", "large": "gpuMemory: 30Gi"}
    given = {name: f"resources: {{{size}}}" for name, size in sizes.items()}
    found = planned(pool, quota, models("a", **given)).plan.workloads.assignments
    cpu = {it.model.name: requests(it)["cpu"] for it in found}
    assert cpu == {"small": 2600, "large": 7800}
    assert 17 * cpu["small"] + 7 * cpu["large"] <= 99_500  # 500m belong to DaemonSets
