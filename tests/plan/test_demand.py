"""The memory of a model by its workload and its fields, and the findings about them."""

import pytest

from policygen.core.finding import At
from policygen.plan.demand import check
from policygen.spec.types import Model
from tests.plan.model_specs import a100, assigned, model

POOL = a100(memory="80GB").replace("spec:\n", "spec:\n      scheduler: volcano\n", 1)


def spec(sizing="", more="", workload="training", size="8b", resources="cpu: '8'"):
    lines = [f"workload: {workload}", "family: llama-3.1", f"size: {size}"]
    lines += [f"sizing: {{{sizing}}}"] if sizing else []
    lines += [more] if more else []
    return model("\n".join(f"      {line}" for line in lines), resources)


@pytest.fixture
def done(planned, team):
    return lambda *args, **options: planned(
        POOL, team("a", "guarantee: 64"), spec(*args, **options)
    )


def messages(done, rule):
    return [it.message for it in done.findings if it.rule.name == rule]


@pytest.mark.parametrize(
    "options, units",
    [
        # An A100 has 79.35 GiB: 90 percent of it, without 1 GiB and 1.74 GiB of activations, is
        # 68.7 GiB. 16 bytes for each of 8.03B parameters are 119.7 GiB.
        ({"workload": "serving"}, 1),
        ({"workload": "batch"}, 1),
        ({}, 2),
        ({"more": "gang: {size: 2}"}, 1),
        ({"more": "gang: {size: 2}", "sizing": "sharding: none"}, 2),
        ({"sizing": "training: lora"}, 1),
        ({"sizing": "gradientPrecision: fp32"}, 2),
        # 18 bytes and 8 GiB of activations: 134.6 / 62.4
        ({"sizing": "gradientPrecision: fp32, activationMemory: 8Gi"}, 4),
        ({"sizing": "optimizerBytes: 4"}, 1),
        # 70.55B parameters: 1051.3 GiB
        ({"size": "70b", "more": "gang: {size: 2}"}, 8),
        ({"size": "70b", "more": "gang: {size: 4}"}, 4),
        # weights 131.4 GiB, and a quarter of 919.9 GiB: 361.4 / 66.4
        ({"size": "70b", "more": "gang: {size: 4}", "sizing": "sharding: gradients"}, 8),
        ({"size": "70b", "sizing": "training: lora"}, 4),
        ({"size": "70b", "sizing": "training: lora, precision: int4"}, 1),
        ({"size": "70b", "sizing": "training: lora, precision: int4, trainablePercent: 4"}, 2),
    ],
)
def test_gpus_of_a_pod(done, options, units):
    assert assigned(done(**options))[2] == units


def test_a_batch_job_has_room_for_16_requests(done):
    # Llama-3.1-70B: 131.4 GiB, 0.625 GiB for each request of 2048 tokens, and 1 GiB on each GPU;
    # two A100 have 142.8 GiB at 90 percent.
    assert assigned(done(workload="serving", size="70b"))[2] == 2
    batch = done(workload="batch", size="70b")
    assert assigned(batch)[2] == 4
    (note,) = messages(batch, "assumption")
    assert "16 concurrent requests of a batch job, 2048 tokens per request" in note
    assert assigned(done("concurrency: 1", workload="batch", size="70b"))[2] == 2


def test_a_default_that_the_spec_writes_is_not_assumed(done):
    written = (
        "precision: bf16, kvCachePrecision: bf16, concurrency: 1, contextLength: 2048, "
        "runtimeMemory: 1Gi, gpuMemoryUtilization: 90"
    )
    assert messages(done(written, workload="serving"), "assumption") == []
    (note,) = messages(done("precision: bf16", workload="serving"), "assumption")
    assert "weight precision" not in note
    assert "2048 tokens per request" in note


def test_the_assumptions_of_training_are_named(done):
    (note,) = messages(done(more="gang: {size: 2}"), "assumption")
    assert "training of all parameters (not LoRA)" in note
    assert "16 bytes per parameter for weights, gradients and Adam" in note
    assert "all of it divided over 2 pods (sharding full)" in note
    assert "1.74 GiB of activations per GPU for one sequence of 2048 tokens" in note
    assert "KV cache" not in note


@pytest.mark.parametrize(
    "more, sizing, reason",
    [
        ("", "", "70.6B parameters × 16 bytes = 1.03 TiB, plus 5.01 GiB on each GPU, in 90%"),
        ("gang: {size: 1}", "", "70.6B parameters × 16 bytes = 1.03 TiB, plus"),
        (
            "gang: {size: 2}",
            "gradientPrecision: fp32, activationMemory: 9Gi",
            "a pod needs 746 GiB: 70.6B parameters × 18 bytes = 1.16 TiB, divided over 2 pods, plus 10 GiB",
        ),
        (
            "gang: {size: 2}",
            "sharding: none",
            "1.03 TiB, on each pod, plus",
        ),
        (
            "gang: {size: 2}",
            "sharding: optimizer",
            "1.03 TiB, only the optimizer states divided over 2 pods, plus",
        ),
        (
            "",
            "training: lora, precision: fp32, trainablePercent: 50",
            "in fp32 = 262.8 GiB, and adapters of 35.3B parameters × 16 bytes = 525.7 GiB, plus",
        ),
    ],
)
def test_a_job_that_fits_no_pool_shows_its_parts(done, more, sizing, reason):
    (found,) = messages(done(sizing, more, size="70b"), "model-fits-no-pool")
    assert '("p": a node has 8 × 79.3 GiB, but a' in found
    assert reason in found


# ---- gpuMemory


@pytest.mark.parametrize(
    "memory, more, sizing, needs",
    [
        ("119Gi", "", "", "training needs 119.7 GiB for weights"),
        ("120Gi", "", "", None),
        ("59Gi", "gang: {size: 2}", "", "one pod needs 59.8 GiB for weights"),
        ("60Gi", "gang: {size: 2}", "", None),
        ("16Gi", "", "training: lora", "training needs 16.2 GiB for weights"),
        ("17Gi", "", "training: lora", None),
    ],
)
def test_stated_memory_is_compared_with_what_training_holds(done, memory, more, sizing, needs):
    found = messages(
        done(sizing, more, resources=f"gpuMemory: {memory}"), "gpu-memory-below-training"
    )
    assert [needs in it for it in found] == ([True] if needs else [])
    assert not any("sizing.training: lora" in it for it in found if "lora" in sizing)


@pytest.mark.parametrize(
    "sizing, found", [("precision: int4", 1), ("precision: int4, training: lora", 0)]
)
def test_quantized_weights_are_not_trained(done, sizing, found):
    assert len(messages(done(sizing), "quantized-full-training")) == found


# ---- fields without effect


@pytest.mark.parametrize(
    "options, reasons",
    [
        ({"sizing": "training: lora", "workload": "serving"}, ["the workload is serving"]),
        ({"sizing": "sharding: full", "workload": "batch"}, ["the workload is batch"]),
        ({"sizing": "concurrency: 4, kvCachePrecision: fp8"}, ["no KV cache"]),
        ({"sizing": "trainablePercent: 2"}, ["sizing.training is not lora"]),
        ({"sizing": "trainablePercent: 2, training: lora"}, []),
        ({"sizing": "sharding: full"}, ["the GPUs of one pod divide everything"]),
        ({"sizing": "sharding: full", "more": "gang: {size: 2}"}, []),
        (
            {"sizing": "contextLength: 4096, activationMemory: 2Gi"},
            ["sizing.activationMemory sets the memory of activations"],
        ),
        # The precision decides whether the stated GPUs hold the weights.
        (
            {
                "sizing": "contextLength: 9, precision: fp8, anyGpuCount: true",
                "resources": "gpus: 8",
            },
            ["gpus"],
        ),
        (
            {"sizing": "activationMemory: 2Gi, optimizerBytes: 6", "resources": "gpuMemory: 99Gi"},
            ["resources.gpuMemory sets the memory"],
        ),
        (
            {
                "sizing": "runtimeMemory: 2Gi, concurrency: 4, anyGpuCount: true",
                "resources": "gpuMemory: 99Gi",
                "workload": "serving",
            },
            ["resources.gpuMemory sets the memory"],
        ),
    ],
)
def test_fields_without_effect(done, options, reasons):
    found = messages(done(**options), "inert-setting")
    assert len(found) == len(reasons)
    assert all(reason in it for reason, it in zip(reasons, found, strict=True))


def test_fields_without_effect_for_one_reason_are_one_finding(done):
    made = done("training: lora, sharding: full, concurrency: 4", workload="serving")
    (found,) = (it for it in made.findings if it.rule.name == "inert-setting")
    assert found.message == (
        "sizing.training and sizing.sharding have no effect, because the workload is serving, not "
        "training; remove training and sharding"
    )


def test_sizing_of_an_unknown_model_has_no_effect_on_stated_memory(planned, team):
    text = model("      sizing: {precision: fp8}")
    done = planned(POOL, team("a", "guarantee: 64"), text)
    (found,) = messages(done, "inert-setting")
    assert found == (
        "sizing.precision has no effect, because resources.gpuMemory sets the memory; remove "
        "precision"
    )


# ---- divided cards


def test_a_small_lora_runs_on_one_mig_instance(planned, team):
    mig = a100(gpu=", sharing: mig, mig: {instances: {1g.5gb: 56, 2g.10gb: 8, 3g.20gb: 16}}")
    text = spec("training: lora").replace("llama-3.1", "qwen2.5").replace("8b", "1.5b")
    done = planned(mig, team("a", "guarantee: {2g.10gb: 4}"), text)
    assert assigned(done) == ("p", "nvidia.com/mig-2g.10gb", 1)
    full = planned(mig, team("a", "guarantee: {2g.10gb: 4}"), text.replace("lora", "full"))
    (found,) = messages(full, "model-fits-no-pool")
    assert "more than any MIG instance of the pool has: 1.54B parameters × 16 bytes" in found


def test_a_shared_card_holds_a_part_of_a_job(planned, team):
    shared = a100(gpu=", sharing: timeSlicing, replicas: 2")
    text = spec("training: lora, precision: int4").replace("8b", "70b")
    assert "model-fits-no-pool" in planned(shared, team("a", "guarantee: 8"), text).rules
    done = planned(shared, team("a", "guarantee: 8"), spec("training: lora, precision: int4"))
    assert assigned(done)[2] == 1
    assert "shared-memory-exceeded" not in done.rules


# ---- stated GPUs, long contexts, and gangs that serve


@pytest.mark.parametrize(
    "options, expected",
    [
        # 131.4 GiB of weights, on cards of 79.35 GiB
        (
            {"resources": "gpus: 1"},
            'with 79.3 GiB of GPU memory on pool "p", but its weights alone',
        ),
        ({"resources": "gpus: 2"}, None),
        ({"resources": "gpus: 1", "sizing": "precision: int4"}, None),
        ({"resources": "gpus: 1", "more": "gang: {size: 2}"}, None),
        (
            {"resources": "gpus: 1", "more": "gang: {size: 2}", "sizing": "precision: fp32"},
            "2 pods",
        ),
    ],
)
def test_stated_gpus_hold_the_weights(done, options, expected):
    found = messages(done(workload="serving", size="70b", **options), "gpu-memory-below-weights")
    assert [expected in it for it in found] == ([True] if expected else [])


def test_the_number_of_gpus_that_holds_the_weights_is_named(done):
    (found,) = messages(
        done(workload="serving", size="70b", resources="gpus: 1"), "gpu-memory-below-weights"
    )
    assert found == (
        'model "m" has gpus: 1, with 79.3 GiB of GPU memory on pool "p", but its weights alone need '
        "131.4 GiB in bf16; write gpus: 2, or write sizing.precision if the weights are quantized"
    )
    (found,) = messages(
        done(workload="serving", size="405b", resources="gpus: 8"), "gpu-memory-below-weights"
    )
    assert "; use larger GPUs, or a gang whose pods divide the model, or write sizing" in found
    assert not messages(
        done(workload="serving", size="8b", resources="gpus: 1"), "gpu-memory-below-weights"
    )


@pytest.mark.parametrize(
    "gpus, sizing, warned", [(1, "", True), (2, "", False), (1, "training: lora", False)]
)
def test_stated_gpus_hold_what_training_needs(done, gpus, sizing, warned):
    found = messages(done(sizing, resources=f"gpus: {gpus}"), "gpu-memory-below-training")
    assert len(found) == warned
    assert all("(8.03B parameters × 16 bytes = 119.7 GiB)" in it for it in found)


@pytest.mark.parametrize(
    "options, warned",
    [
        ({"sizing": "contextLength: 131072"}, False),
        ({"sizing": "contextLength: 131073"}, True),
        ({"sizing": "contextLength: 131073", "resources": "gpuMemory: 70Gi"}, True),
        ({"sizing": "contextLength: 131073", "workload": "batch"}, True),
        # It has no effect there, or training extends it.
        ({"sizing": "contextLength: 131073", "resources": "gpus: 1"}, False),
        ({"sizing": "contextLength: 131073", "workload": "training"}, False),
    ],
)
def test_a_context_beyond_the_model_is_reported(done, options, warned):
    found = messages(done(**{"workload": "serving", **options}), "context-length-above-model")
    text = "has sizing.contextLength 131073, but Llama-3.1-8B supports only 131072 tokens; lower"
    assert [text in it for it in found] == [True] * warned


def test_a_gang_that_serves_divides_the_model_over_its_pods(done):
    # 405B in bf16: 756 GiB of weights; 8 cards hold 564 GiB of weights
    big = {"workload": "serving", "size": "405b"}
    assert messages(done(**big), "model-fits-no-pool")
    assert assigned(done(**big, more="gang: {size: 2, runAs: lws}")) == ("p", "nvidia.com/gpu", 8)


@pytest.mark.parametrize(
    ("size", "remedy"),
    [
        ("140GB", ", or the memory as resources.gpuMemory: 140Gi"),
        ("1.5 tib", ", or the memory as resources.gpuMemory: 1.5Ti"),
        ("large", "7b, 1.5b or 8x7b"),
    ],
)
def test_a_size_that_is_an_amount_of_memory(size, remedy):
    [hit] = check(Model("m", At(0), size=size), None)
    assert hit.message.endswith(remedy)


@pytest.mark.parametrize(
    "resources, expected",
    [
        ("gpus: 1, gpuMemory: 140Gi", "write gpus: 2, or remove one of the two fields"),
        ("gpus: 2, gpuMemory: 140Gi", None),
        ("gpus: 1, gpuMemory: 4Ti", "use larger GPUs, or remove one of the two fields"),
    ],
)
def test_stated_gpus_hold_the_stated_memory(done, resources, expected):
    found = messages(done(workload="serving", resources=resources), "gpus-below-gpu-memory")
    assert [it.rpartition("; ")[2] for it in found] == [expected] * (expected is not None)
