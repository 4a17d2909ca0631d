"""The Kueue column of docs/semantics.md, row by row, with numbers worked out by hand.

The pool of these tests: 64 GPUs on 8 nodes of 96 cores and 768Gi, so the share of a GPU is 12 cores
and 96Gi.
"""

import pytest

from tests.plan.quotas import quotas

RACKS = """
schedulingPolicy: {topologyAware: true}
topology: {levels: [example.com/rack, kubernetes.io/hostname]}
"""


def test_pool_is_a_flavor_with_its_labels_taints_and_tolerations(planned, pool):
    text = pool(more="taints: [{key: gpu, value: yes-please, effect: NoSchedule}]")
    flavor = planned(text).of("ResourceFlavor")["p"]
    assert flavor.node_labels == {"pool": "p"}
    assert flavor.node_taints == ({"key": "gpu", "value": "yes-please", "effect": "NoSchedule"},)
    assert flavor.tolerations == (
        {"key": "gpu", "operator": "Equal", "value": "yes-please", "effect": "NoSchedule"},
    )
    assert flavor.topology_name is None


def test_an_empty_value_is_not_written(planned, pool):
    text = pool(
        more="taints: [{key: a, value: '', effect: NoSchedule}]\n"
        "tolerations: [{key: a, value: '', effect: NoSchedule}, {key: b, operator: Exists}]"
    )
    flavor = planned(text).of("ResourceFlavor")["p"]
    assert flavor.node_taints == ({"key": "a", "effect": "NoSchedule"},)
    assert flavor.tolerations == (
        {"key": "a", "effect": "NoSchedule"},
        {"key": "b", "operator": "Exists"},
    )


def test_explicit_tolerations_replace_those_of_the_taints(planned, pool):
    text = pool(more="taints: [{key: gpu, effect: NoSchedule}]\ntolerations: []")
    done = planned(text)
    assert done.of("ResourceFlavor")["p"].tolerations == ()
    assert "taint-not-tolerated" in done.rules


@pytest.mark.parametrize(
    "more, levels",
    [
        ("schedulingPolicy: {topologyAware: true}", ("kubernetes.io/hostname",)),
        (RACKS, ("example.com/rack", "kubernetes.io/hostname")),
    ],
)
def test_topology_aware(planned, pool, more, levels):
    done = planned(pool(more=more))
    assert done.of("Topology")["p"].levels == levels
    assert done.of("ResourceFlavor")["p"].topology_name == "p"


def test_leaf_gets_guarantee_and_may_borrow_up_to_its_limit(planned, pool, team):
    done = planned(pool(), team("a", "guarantee: 16, limit: 24"))
    queue = done.of("ClusterQueue")["a.p"]
    assert quotas(queue) == {
        "cpu": ("192", "96", None),
        "memory": ("1536Gi", "768Gi", None),
        "nvidia.com/gpu": ("16", "8", None),
    }
    assert queue.cohort == "p"
    assert queue.namespaces == ("a-ns",)
    assert queue.covered_resources == ("cpu", "memory", "nvidia.com/gpu")
    assert queue.when_can_borrow == "MayStopSearch"


def test_without_a_limit_a_root_team_may_reach_all_that_is_available(planned, pool, team):
    queue = planned(pool(), team("a", "guarantee: 16")).of("ClusterQueue")["a.p"]
    assert quotas(queue)["nvidia.com/gpu"] == ("16", "48", None)


def test_root_cohort_has_the_unguaranteed_quota(planned, pool, team):
    done = planned(pool(), team("a", "guarantee: 16"), team("b", "guarantee: 30"))
    cohort = done.of("Cohort")["p"]
    assert cohort.parent is None
    # 64 - 16 - 30; 18 × 12 cores; 18 × 96Gi
    assert quotas(cohort) == {
        "cpu": ("216", None, None),
        "memory": ("1728Gi", None, None),
        "nvidia.com/gpu": ("18", None, None),
    }


def test_inner_team_is_a_cohort_with_what_its_children_leave(planned, pool, team):
    done = planned(
        pool(),
        team("lab", "guarantee: 32, limit: 48", namespaces=False),
        team("x", "guarantee: 10", parent="lab"),
        team("w", "guarantee: 12, limit: 20", parent="lab"),
    )
    lab = done.of("Cohort")["lab.p"]
    assert lab.parent == "p"
    assert quotas(lab)["nvidia.com/gpu"] == ("10", "16", None)  # 32 - 22; 48 - 32
    x, w = (done.of("ClusterQueue")[name] for name in ("x.p", "w.p"))
    assert quotas(x)["nvidia.com/gpu"] == ("10", "38", None)  # its parent's limit, 48
    assert quotas(w)["nvidia.com/gpu"] == ("12", "8", None)
    assert x.cohort == w.cohort == "lab.p"
    assert "lab.p" not in done.of("ClusterQueue")


def test_parent_with_namespaces_gets_a_leaf_of_its_own(planned, pool, team):
    done = planned(
        pool(),
        team("lab", "guarantee: 32, limit: 48"),
        team("x", "guarantee: 10", parent="lab"),
    )
    own = done.of("ClusterQueue")["lab.own.p"]
    assert quotas(own)["nvidia.com/gpu"] == ("22", "26", None)  # 32 - 10; 48 - 22
    assert own.namespaces == ("lab-ns",)
    assert quotas(done.of("Cohort")["lab.p"])["nvidia.com/gpu"] == ("0", "16", None)
    assert done.of("LocalQueue")["lab-ns/p"].cluster_queue == "lab.own.p"


def test_weight_is_that_of_fair_sharing(planned, pool, team):
    done = planned(pool(), team("a", "weight: 3"), team("b"))
    assert done.of("ClusterQueue")["a.p"].weight == "3"
    assert done.of("ClusterQueue")["b.p"].weight == "1"
    assert "fair-sharing-needed" in done.rules
    assert "fair-sharing-needed" not in planned(pool(), team("a"), team("b")).rules


def test_preemption(planned, pool, team):
    queue = planned(pool(), team("a", "guarantee: 8")).of("ClusterQueue")["a.p"]
    assert (queue.reclaim_within_cohort, queue.within_cluster_queue) == ("Any", "LowerPriority")


def test_without_preemption_a_guarantee_is_not_lent(planned, pool, team):
    done = planned(
        pool(more="schedulingPolicy: {preemptionEnabled: false}"),
        team("lab", "guarantee: 32", namespaces=False),
        team("x", "guarantee: 10", parent="lab"),
    )
    queue = done.of("ClusterQueue")["x.p"]
    assert (queue.reclaim_within_cohort, queue.within_cluster_queue) == ("Never", "Never")
    assert quotas(queue)["nvidia.com/gpu"] == ("10", "54", "0")
    assert quotas(done.of("Cohort")["lab.p"])["nvidia.com/gpu"] == ("22", "32", "0")
    # The root has nothing above it to lend to; the API refuses a limit there.
    assert quotas(done.of("Cohort")["p"])["nvidia.com/gpu"] == ("32", None, None)


def test_shared_queue_tries_its_pools_in_order(planned, pool, team):
    platform = """
    apiVersion: policygen.dev/v1alpha1
    kind: Platform
    metadata: {name: set}
    spec:
      sharedQueues: [{name: all, pools: [p, extra]}]
    """
    done = planned(platform, pool(), pool("extra", gpus=8), team("a", "guarantee: 16"))
    queue = done.of("ClusterQueue")["a.all"]
    assert [flavor.name for flavor in queue.flavors] == ["p", "extra"]
    assert queue.when_can_borrow == "TryNextFlavor"
    # It wrote no share of `extra`: listed, as every member of a cohort must, with nothing.
    assert quotas(queue, 1)["nvidia.com/gpu"] == ("0", "0", None)
    assert quotas(done.of("Cohort")["all"], 1)["nvidia.com/gpu"] == ("8", None, None)
    assert done.of("LocalQueue")["a-ns/all"].cluster_queue == "a.all"


@pytest.mark.parametrize(
    "version, api, word",
    [
        ("0.13", "kueue.x-k8s.io/v1beta1", "Borrow"),
        ("0.14", "kueue.x-k8s.io/v1beta1", "Borrow"),
        ("0.15", "kueue.x-k8s.io/v1beta2", "MayStopSearch"),
        ("0.19.2", "kueue.x-k8s.io/v1beta2", "MayStopSearch"),
    ],
)
def test_target_picks_the_api_version(planned, pool, team, version, api, word):
    platform = f"""
    apiVersion: policygen.dev/v1alpha1
    kind: Platform
    metadata: {{name: set}}
    spec: {{target: {{kueue: "{version}"}}}}
    """
    done = planned(platform, pool(more="schedulingPolicy: {topologyAware: true}"), team("a"))
    apis = {item.kind.name: item.release.api_version for item in done.plan.items}
    assert apis["ClusterQueue"] == apis["Cohort"] == api
    assert apis["Topology"] == ("kueue.x-k8s.io/v1alpha1" if version == "0.13" else api)
    assert done.of("ClusterQueue")["a.p"].when_can_borrow == word
