"""The gang sizes that findings propose."""

import pytest

from tests.plan.model_specs import messages, models, quotas

POOL = """
    apiVersion: policygen.dev/v1alpha1
    kind: ResourcePool
    metadata: {name: p}
    spec:
      nodeSelector: {pool: p}
      gpu: {product: NVIDIA-H100-80GB-HBM3}
      capacity: {nodes: 2, nodeType: a3-highgpu-8g}
      scheduler: volcano
"""


def trained(size, pods):
    return f"family: llama-3.1, size: {size}, workload: training, gang: {{size: {pods}}}"


@pytest.mark.parametrize(
    "size, pods, words",
    [
        ("70b", 3, "; write gang.size: 2, which needs 16 nvidia.com/gpu"),
        (
            "405b",
            16,
            "no gang size fits the limit: it needs 6.57 TiB of GPU memory, and the limit has 1.24 TiB",
        ),
    ],
)
def test_a_gang_above_the_limit_gets_a_size_that_fits(planned, size, pods, words):
    done = planned(POOL, quotas("a", "pool: p, guarantee: 16"), models("a", t=trained(size, pods)))
    (message,) = messages(done, "model-above-limit")
    assert words in message


def test_a_smaller_gang_is_not_proposed_if_it_needs_as_many_gpus(planned):
    teams = quotas("a", "pool: p, guarantee: 8"), quotas("b", "pool: p, guarantee: 8")
    done = planned(POOL, *teams, models("a", t=trained("70b", 4)))
    (message,) = messages(done, "gang-on-borrowed-gpus")
    assert "gang.size" not in message
    assert "lower the guarantees of other teams, and raise this one to 16" in message


@pytest.mark.parametrize(
    "limit, fields, advice",
    [
        (16, "size: 405b, workload: batch", "write gang.size: 2 to divide it over 2 pods"),
        (
            16,
            "size: 70b, workload: training",
            "write gang.size: 2 to divide it over 2 pods, or write sizing.training: lora to train adapters",
        ),
        # the memory of a pod that a model states is not divided
        (
            16,
            "resources: {gpuMemory: 2Ti}",
            "lower resources.gpuMemory, or use a pool with larger nodes",
        ),
        # GPUs are not the fault
        (
            16,
            "workload: training, resources: {gpus: 8, cpu: '500'}",
            "lower resources.cpu, or use a pool with larger nodes",
        ),
        # the limit of the team holds no gang, and no node the model with adapters
        (
            16,
            "size: 405b, workload: training",
            "use a smaller model or a pool with larger nodes",
        ),
        # with adapters, it needs fewer GPUs, and less of the node belongs to these
        (
            8,
            "size: 70b, workload: training, resources: {cpu: '150', memory: 700Gi}",
            (
                "write gang.size: 2 to divide it over 2 pods, or write sizing.training: lora to train adapters, "
                "and lower the request to 103.705 cores"
            ),
        ),
        # neither cpu nor memory alone is enough
        (
            8,
            "size: 8b, resources: {cpu: '900', memory: 9Ti}",
            "lower resources.cpu and resources.memory, or use a pool with larger nodes",
        ),
    ],
)
def test_a_gang_is_proposed_for_a_model_that_is_too_large_for_a_node(
    planned, limit, fields, advice
):
    team = quotas("a", f"pool: p, guarantee: {limit}")
    (message,) = messages(planned(POOL, team, models("a", m=fields)), "model-fits-no-pool")
    assert message.endswith(f"; {advice}")
    if "gang" in advice:
        divided = planned(POOL, team, models("a", m=f"{fields}, gang: {{size: 2}}"))
        assert not [it for it in divided.findings if str(it.severity) != "info"]
