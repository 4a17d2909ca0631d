"""The pool and the number of GPUs of a model."""

import pytest

from tests.plan.model_specs import a100, assigned, model


@pytest.mark.parametrize(
    "memory, resources, units",
    [
        ("40GB", "gpuMemory: 13Gi", 1),
        ("40GB", "gpuMemory: 40Gi", 2),  # a card has 40,442 MiB of its 40,960
        ("40GB", "gpuMemory: 100Gi", 4),  # 3 would be enough, but tensor parallelism needs 4
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


def test_a_model_larger_than_a_node_is_reported_and_nothing_is_made_for_it(planned, team):
    text = model("      gang: {size: 2}", "gpuMemory: 400Gi")
    pool = a100().replace("spec:\n", "spec:\n      scheduler: volcano\n", 1)
    done = planned(pool, team("a", "guarantee: 8"), text)
    assert "model-fits-no-pool" in done.rules
    assert done.of("PodGroup") == {}
    assert done.plan.workloads.assignments == ()


def test_tensor_parallelism_needs_a_power_of_two_and_a_node_of_six_has_four(planned, team):
    node = a100().replace("perNode: 8", "perNode: 6").replace("totalGPUs: 64", "totalGPUs: 60")
    text = model(resources="gpuMemory: 190Gi")  # five cards of 39.5 GiB hold it
    done = planned(node, team("a", "guarantee: 8"), text)
    [found] = [it for it in done.findings if it.rule.name == "model-fits-no-pool"]
    assert "a node has 6 GPUs, but a replica needs 8, because tensor parallelism" in found.message
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
def test_a_model_that_fits_no_pool_is_reported_at_the_deciding_field(
    planned, team, resources, more, at
):
    done = planned(a100(), team("a", "guarantee: 8"), model(f"      {more}", resources))
    [found] = [it.place for it in done.findings if it.rule.name == "model-fits-no-pool"]
    assert found.text[found.column - 1 : found.column - 1 + found.length] == at


@pytest.mark.parametrize(
    "pool, has",
    [
        (a100().replace("perNode: 8", "perNode: 1"), "a node has 1 × 40442Mi"),
        (a100(gpu=", sharing: mps, replicas: 4"), "4 pods share each GPU of 40442Mi"),
    ],
)
def test_a_need_just_above_the_memory_of_a_card_looks_different(planned, team, pool, has):
    done = planned(pool, team("a", "guarantee: 8"), model(resources="gpuMemory: 40443Mi"))
    [found] = [it for it in done.findings if it.rule.name == "model-fits-no-pool"]
    assert f"a replica needs 40443Mi, but {has}" in found.message


def test_cpu_and_memory_must_fit_a_node(planned, team):
    text = model(resources="gpuMemory: 13Gi, cpu: '97'")
    assert "model-fits-no-pool" in planned(a100(), team("a", "guarantee: 8"), text).rules


def test_more_cpu_than_comes_with_the_gpus_is_noted(planned, team):
    text = model(resources="gpuMemory: 13Gi, cpu: '13'")  # a GPU comes with 12
    done = planned(a100(), team("a", "guarantee: 8"), text)
    assert "host-share-exceeded" in done.rules
    text = model(resources="gpuMemory: 13Gi, cpu: '12'")
    assert "host-share-exceeded" not in planned(a100(), team("a", "guarantee: 8"), text).rules


def test_mig_takes_the_smallest_instance_that_holds_it(planned, team):
    mig = a100(gpu=", sharing: mig, mig: {instances: {1g.5gb: 56, 2g.10gb: 8, 3g.20gb: 16}}")
    quota = "guarantee: {2g.10gb: 4}"
    done = planned(mig, team("a", quota), model(resources="gpuMemory: 8Gi"))
    assert assigned(done) == ("p", "nvidia.com/mig-2g.10gb", 1)
    done = planned(mig, team("a", quota), model(resources="gpus: 1"))
    [found] = [it for it in done.findings if it.rule.name == "model-fits-no-pool"]
    assert found.message.endswith(
        "but the pool has several (1g.5gb, 2g.10gb, 3g.20gb)); write gpuMemory instead of gpus, or use another pool"
    )
    done = planned(mig, team("a", quota), model(resources="gpuMemory: 30Gi"))
    assert "model-fits-no-pool" in done.rules


def test_instances_of_one_profile_are_counted_and_bounded_by_a_node(planned, team):
    mig = a100(gpu=", sharing: mig, mig: {instances: {3g.20gb: 128}}")
    quota = "guarantee: {3g.20gb: 4}"
    done = planned(mig, team("a", quota), model(resources="gpus: 16"))
    assert assigned(done) == ("p", "nvidia.com/mig-3g.20gb", 16)
    done = planned(mig, team("a", quota), model(resources="gpus: 17"))
    assert "model-fits-no-pool" in done.rules


def test_a_shared_card_warns_about_missing_isolation(planned, team):
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


def test_a_pod_gets_one_part_of_a_card_that_mps_shares(planned, team):
    """The device plugin refuses a pod that requests several, with UnexpectedAdmissionError."""
    shared = a100(gpu=", sharing: mps, replicas: 4")
    one = planned(shared, team("a", "guarantee: 8"), model(resources="gpus: 1"))
    assert assigned(one)[2] == 1
    two = planned(shared, team("a", "guarantee: 8"), model(resources="gpus: 2"))
    [found] = [it for it in two.findings if it.rule.name == "model-fits-no-pool"]
    assert "a replica needs 2 GPUs, but a pod gets only one part of a GPU that MPS shares" in (
        found.message
    )
    assert "write gpus: 1" in found.message
    # Parts of a time-sliced card are only its processor time, so a pod can have several.
    sliced = a100(gpu=", sharing: timeSlicing, replicas: 4")
    done = planned(sliced, team("a", "guarantee: 8"), model(resources="gpus: 2"))
    assert assigned(done)[2] == 2


def test_a_shared_card_is_reported_only_if_the_model_may_use_it(planned, team):
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


def test_cpu_and_memory_above_the_share_of_a_replica_are_one_finding(planned, team):
    text = model(resources="gpuMemory: 13Gi, cpu: '90', memory: 1000Gi")
    done = planned(a100(), team("a", "guarantee: 8"), text)
    [found] = [it.message for it in done.findings if it.rule.name == "host-share-exceeded"]
    share = found.rpartition("lower the requests to ")[2]
    cpu, memory = share.removesuffix(" of memory").split(" cores and ")
    fitting = model(resources=f"gpuMemory: 13Gi, cpu: '{cpu}', memory: {memory}")
    rules = planned(a100(), team("a", "guarantee: 8"), fitting).rules
    assert "host-share-exceeded" not in rules
    # With fewer replicas, the note would follow.
    many = text.replace("spec:\n", "spec:\n      replicas: 9\n", 1)
    done = planned(a100(), team("a", "guarantee: 8"), many)
    [above] = [it.message for it in done.findings if it.rule.name == "model-above-limit"]
    assert above.endswith(f"; lower the requests to {share}")
    assert "host-share-exceeded" not in done.rules
