"""Where models run and how many GPUs they take, with numbers worked out by hand."""

import pytest


def a100(name="p", memory="40GB", more="", gpu=""):
    return f"""
    apiVersion: policygen.dev/v1alpha1
    kind: ResourcePool
    metadata: {{name: {name}}}
    spec:
      nodeSelector: {{pool: {name}}}
      gpu: {{product: NVIDIA-A100-SXM4-{memory}, perNode: 8{gpu}}}
      capacity: {{totalGPUs: 64, nodeAllocatable: {{cpu: "96", memory: 1100Gi}}}}
{more}
    """


def model(more="", resources="gpuMemory: 13Gi"):
    return f"""
    apiVersion: policygen.dev/v1alpha1
    kind: Model
    metadata: {{name: m}}
    spec:
      team: a
      resources: {{{resources}}}
{more}
    """


def assigned(done):
    (found,) = done.plan.workloads.assignments
    return found.facts.name, found.size.resource, found.size.units


@pytest.mark.parametrize(
    "memory, resources, units",
    [
        ("40GB", "gpuMemory: 13Gi", 1),
        ("40GB", "gpuMemory: 40Gi", 2),  # a card has 40,442 MiB of its 40,960
        ("40GB", "gpuMemory: 100Gi", 4),  # 3 would hold it; tensor parallelism wants 4
        ("40GB", "gpuMemory: 140Gi", 4),
        ("80GB", "gpuMemory: 140Gi", 2),
        ("80GB", "gpus: 3", 3),
    ],
)
def test_memory_rule(planned, team, memory, resources, units):
    done = planned(a100(memory=memory), team("a", "guarantee: 8"), model(resources=resources))
    assert assigned(done) == ("p", "nvidia.com/gpu", units)


def test_any_gpu_count_rounds_up_to_the_next_card_only(planned, team):
    text = model("      sizing: {anyGpuCount: true}", "gpuMemory: 100Gi")
    assert assigned(planned(a100(), team("a", "guarantee: 8"), text))[2] == 3


def test_family_and_size_instead_of_memory(planned, team):
    # Llama-3.1-70B: 131.4 GiB of weights; KV of 16 × 8192 tokens at 320 KiB: 40 GiB; on 80 GB
    # cards at 90 percent, less 1 GiB each: 70.4 GiB, so 3, rounded to 4
    text = model(
        "      family: llama-3.1\n      size: 70b\n"
        "      sizing: {concurrency: 16, contextLength: 8192}",
        "cpu: '8'",
    )
    done = planned(a100(memory="80GB"), team("a", "guarantee: 8"), text)
    assert assigned(done)[2] == 4
    assert "assumption" in done.rules


def test_a_model_larger_than_a_node_is_reported_and_nothing_is_made_for_it(planned, team):
    text = model("      gang: {size: 2}", "gpuMemory: 400Gi")
    pool = a100().replace("spec:\n", "spec:\n      scheduler: volcano\n", 1)
    done = planned(pool, team("a", "guarantee: 8"), text)
    assert "model-fits-no-pool" in done.rules
    assert done.of("PodGroup") == {}
    assert done.plan.workloads.assignments == ()


def test_tensor_parallelism_wants_a_power_of_two_and_a_node_of_six_has_four(planned, team):
    node = a100().replace("perNode: 8", "perNode: 6").replace("totalGPUs: 64", "totalGPUs: 60")
    text = model(resources="gpuMemory: 190Gi")  # five cards of 39.5 GiB hold it
    assert "model-fits-no-pool" in planned(node, team("a", "guarantee: 8"), text).rules
    text = model("      sizing: {anyGpuCount: true}", "gpuMemory: 190Gi")
    assert assigned(planned(node, team("a", "guarantee: 8"), text))[2] == 5


@pytest.mark.parametrize(
    "resources, more, at",
    [
        ("gpuMemory: 400Gi", "", "400Gi"),
        ("gpuMemory: 13Gi, cpu: '97'", "", "'97'"),
        ("gpuMemory: 13Gi, memory: 1101Gi", "", "1101Gi"),
        ("gpus: 9", "", "9"),
        ("cpu: '1'", "family: llama-3.1\n      size: 405b", "405b"),
        ("cpu: '1'", "family: llama-3.1-405b", "llama-3.1-405b"),
    ],
)
def test_what_fits_no_pool_is_told_at_the_field_that_decides(planned, team, resources, more, at):
    done = planned(a100(), team("a", "guarantee: 8"), model(f"      {more}", resources))
    [found] = [it.place for it in done.findings if it.rule.name == "model-fits-no-pool"]
    assert found.text[found.column - 1 : found.column - 1 + found.length] == at


def test_cpu_and_memory_must_fit_a_node(planned, team):
    text = model(resources="gpuMemory: 13Gi, cpu: '97'")
    assert "model-fits-no-pool" in planned(a100(), team("a", "guarantee: 8"), text).rules


def test_more_cpu_than_comes_with_the_gpus_is_noted(planned, team):
    text = model(resources="gpuMemory: 13Gi, cpu: '13'")  # a GPU comes with 12
    done = planned(a100(), team("a", "guarantee: 8"), text)
    assert "host-share-exceeded" in done.rules
    text = model(resources="gpuMemory: 13Gi, cpu: '12'")
    assert "host-share-exceeded" not in planned(a100(), team("a", "guarantee: 8"), text).rules


def test_placement_order_decides(planned, team):
    both = team("a", "guarantee: 8").replace("guarantee: 8}", "guarantee: 8}, {pool: q}")
    for order in ("p, q", "q, p"):
        text = model(f"      placement: {{pools: [{order}]}}")
        done = planned(a100(), a100("q"), both, text)
        assert assigned(done)[0] == order[0]


@pytest.mark.parametrize("kind", ["a100-40gb", "NVIDIA-A100-SXM4-40GB", "p"])
def test_node_types_name_products_labels_or_pools(planned, team, kind):
    text = model(f"      placement: {{nodeTypes: [{kind}]}}")
    done = planned(a100(), a100("q", "80GB"), team("a", "guarantee: 8"), text)
    assert assigned(done)[0] == "p"
    assert "node-type-not-offered" not in done.rules


def test_a_label_and_a_product_of_one_name_mean_the_pools_of_both(planned, team):
    labelled = a100("q", "80GB").replace("{pool: q}", "{pool: q, card: a100-40gb}")
    cut = a100("r", "80GB").replace("{pool: r}", "{pool: r, card: other}")
    both = team("a", "guarantee: 8").replace("pool: p", "pool: q")
    text = model("      placement: {nodeTypes: [a100-40gb], pools: [r, q, p]}")
    done = planned(a100(), labelled, cut, both, text)
    assert assigned(done)[0] == "q"
    text = model("      placement: {nodeTypes: [a100-40gb]}")
    assert assigned(planned(a100(), labelled, cut, both, text))[0] == "q"
    assert assigned(planned(a100(), labelled, cut, team("a", "guarantee: 8"), text))[0] == "p"


def test_a_node_type_that_none_offers_is_a_warning(planned, team):
    text = model("      placement: {nodeTypes: [h100, a100-40gb]}")
    done = planned(a100(), team("a", "guarantee: 8"), text)
    assert "node-type-not-offered" in done.rules
    assert assigned(done)[0] == "p"


def test_spot_pools_only_where_tolerated(planned, team):
    spot = a100(more="      provisioning: spot")
    done = planned(spot, team("a", "guarantee: 8"), model())
    assert "only-preemptible-pools" in done.rules
    tolerant = model("      placement: {toleratePreemptible: true}")
    assert assigned(planned(spot, team("a", "guarantee: 8"), tolerant))[0] == "p"


def test_mig_takes_the_smallest_instance_that_holds_it(planned, team):
    mig = a100(gpu=", sharing: mig, mig: {instances: {1g.5gb: 56, 2g.10gb: 8, 3g.20gb: 16}}")
    quota = "guarantee: {2g.10gb: 4}"
    done = planned(mig, team("a", quota), model(resources="gpuMemory: 8Gi"))
    assert assigned(done) == ("p", "nvidia.com/mig-2g.10gb", 1)
    done = planned(mig, team("a", quota), model(resources="gpus: 1"))
    [found] = [it for it in done.findings if it.rule.name == "model-fits-no-pool"]
    assert "gpus counts one resource, but the pool has 1g.5gb, 2g.10gb, 3g.20gb" in found.message
    done = planned(mig, team("a", quota), model(resources="gpuMemory: 30Gi"))
    assert "model-fits-no-pool" in done.rules


def test_a_shared_card_warns_of_what_nothing_keeps_apart(planned, team):
    shared = a100(gpu=", sharing: timeSlicing, replicas: 4")
    done = planned(shared, team("a", "guarantee: 8"), model(resources="gpuMemory: 9Gi"))
    assert assigned(done)[2] == 1
    assert "shared-memory-exceeded" not in done.rules
    done = planned(shared, team("a", "guarantee: 8"), model(resources="gpuMemory: 13Gi"))
    assert "shared-memory-exceeded" in done.rules
    done = planned(shared, team("a", "guarantee: 8"), model(resources="gpuMemory: 40Gi"))
    assert "model-fits-no-pool" in done.rules
    # MPS divides the memory, so there it does not fit.
    mps = a100(gpu=", sharing: mps, replicas: 4")
    done = planned(mps, team("a", "guarantee: 8"), model(resources="gpuMemory: 13Gi"))
    assert "model-fits-no-pool" in done.rules


def test_a_shared_card_is_told_only_where_the_model_is_planned(planned, team):
    shared = a100("q", gpu=", sharing: timeSlicing, replicas: 4")
    both = team("a", "guarantee: 8").replace("guarantee: 8}", "guarantee: 8}, {pool: q}")
    done = planned(a100(), shared, both, model())
    assert assigned(done)[0] == "p"
    assert "shared-memory-exceeded" not in done.rules
    # Kueue may place it on either pool of one queue.
    platform = """
    apiVersion: policygen.dev/v1alpha1
    kind: Platform
    metadata: {name: set}
    spec: {sharedQueues: [{name: all, pools: [p, q]}]}
    """
    done = planned(platform, a100(), shared, both, model())
    assert assigned(done)[0] == "p"
    assert "shared-memory-exceeded" in done.rules


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


def test_many_pools_without_a_share_are_counted_and_not_listed(planned, team):
    pools = [a100(name) for name in ("p", "q1", "q2", "q3", "q4", "q5")]
    text = model("      placement: {pools: [q1, q2, q3, q4, q5]}")
    done = planned(*pools, team("a", "guarantee: 8"), text)
    [found] = [it.message for it in done.findings if it.rule.name == "team-without-share"]
    assert 'fits "q1", "q2", "q3", "q4" and 1 more, but team "a" has' in found


@pytest.mark.parametrize(
    "quota, more, rule",
    [
        ("guarantee: 2, limit: 4", "autoscaling: {minReplicas: 5, maxReplicas: 6}", "model-above-limit"),
        ("guarantee: 2, limit: 4", "autoscaling: {minReplicas: 1, maxReplicas: 5}", "model-above-limit"),
        (
            "guarantee: 2, limit: 4",
            "autoscaling: {minReplicas: 3, maxReplicas: 4}",
            "serving-on-borrowed-gpus",
        ),
        ("guarantee: 2, limit: 4", "replicas: 5", "model-above-limit"),
    ],
)  # fmt: skip
def test_the_teams_share_must_hold_the_model(planned, team, quota, more, rule):
    assert rule in planned(a100(), team("a", quota), model(f"      {more}")).rules
    quiet = planned(a100(), team("a", "guarantee: 8"), model(f"      {more}"))
    assert rule not in quiet.rules


@pytest.mark.parametrize(
    "workload, more, told",
    [
        ("training", "replicas: 5", True),
        ("batch", "replicas: 5", False),
        ("training", "replicas: 2\n      gang: {size: 4}", True),
        ("batch", "replicas: 2\n      gang: {size: 4}", False),
        ("batch", "gang: {size: 5}", True),
        ("batch", "autoscaling: {minReplicas: 1, maxReplicas: 5}", True),
    ],
)
def test_jobs_of_a_batch_wait_for_each_other(planned, team, workload, more, told):
    text = model(f"      workload: {workload}\n      {more}")
    done = planned(a100(), team("a", "guarantee: 2, limit: 4"), text)
    assert ("model-above-limit" in done.rules) == told


def test_instances_of_one_profile_are_counted_and_bounded_by_a_node(planned, team):
    mig = a100(gpu=", sharing: mig, mig: {instances: {3g.20gb: 128}}")
    quota = "guarantee: {3g.20gb: 4}"
    done = planned(mig, team("a", quota), model(resources="gpus: 16"))
    assert assigned(done) == ("p", "nvidia.com/mig-3g.20gb", 16)
    done = planned(mig, team("a", quota), model(resources="gpus: 17"))
    assert "model-fits-no-pool" in done.rules


def test_a_team_without_a_share_of_the_pool(planned, team):
    text = model("      placement: {pools: [q]}")
    done = planned(a100(), a100("q"), team("a", "guarantee: 8"), text)
    assert "team-without-share" in done.rules


@pytest.mark.parametrize(
    "more, rule",
    [
        ("family: llama\n      size: 70b", "gpu-memory-below-weights"),
        ("family: llama\n      size: 7b\n      sizing: {concurrency: 9}", "gpu-memory-below-concurrency"),
        ("family: llama\n      size: 7b\n      sizing: {precision: int4}", None),
    ],
)  # fmt: skip
def test_stated_memory_is_compared_with_what_the_model_takes(planned, team, more, rule):
    done = planned(a100(), team("a", "guarantee: 8"), model(f"      {more}"))
    assert [name for name in done.rules if name.startswith("gpu-memory")] == (
        [rule] if rule else []
    )


def test_nothing_said_of_its_size(planned, team):
    done = planned(a100(), team("a", "guarantee: 8"), model(resources="cpu: '1'"))
    assert "model-size-unknown" in done.rules


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


def test_a_model_of_a_team_with_children_joins_the_own_leaf(planned, team):
    done = planned(
        a100(),
        team("a", "guarantee: 8"),
        team("b", "guarantee: 4", parent="a"),
        model(),
    )
    (found,) = done.plan.workloads.assignments
    assert found.queue == "a.own.p"
