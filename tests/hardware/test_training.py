"""The memory of training jobs, compared with papers, tools, manual results and brute force."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from policygen.hardware import catalog, models, sizing, training
from policygen.hardware.models import ModelFacts
from policygen.hardware.sizing import MemoryDemand
from policygen.hardware.training import Training

GIB = 1 << 30
SHARDINGS = ("full", "gradients", "optimizer", "none")


def usable(product):
    return catalog.products()[product].memory_mib << 20


def job(family, size, context=2048, precision="", **options):
    facts = models.model(family, size)
    assert facts is not None
    options = Training(**options)
    return MemoryDemand(facts=facts, precision=precision, context_length=context, training=options)


def sized(parameters, precision="bf16", **options):
    """The state of one pod in bytes, for a model of which only the size is known."""
    facts = models.model("any", parameters)
    options = Training(**options)
    return training.pod_bits(training.state(facts, precision, options), options) / 8


# ---- ZeRO, table 1: GB on each device, with K = 12


@pytest.mark.parametrize(
    "size, ranks, figures",
    [
        ("7.5b", 1, (120, 120, 120)),
        ("7.5b", 4, (52.5, 41.3, 30)),
        ("7.5b", 16, (35.6, 21.6, 7.5)),
        ("7.5b", 64, (31.4, 16.6, 1.88)),
        ("7.5b", 1024, (30.1, 15.1, 0.12)),
        ("128b", 64, (536, 284, 32)),
        ("1t", 64, (4187, 2218, 250)),
    ],
)
def test_table_of_the_zero_paper(size, ranks, figures):
    found = [
        sized(size, pods=ranks, sharding=sharding) / 10**9
        for sharding in ("optimizer", "gradients", "full")
    ]
    assert found == pytest.approx(figures, rel=0.005, abs=0.005)
    complete = {"7.5b": 120, "128b": 2048, "1t": 16000}[size]
    assert sized(size, pods=ranks, sharding="none") == complete * 10**9


# ---- bytes of one parameter


@pytest.mark.parametrize(
    "precision, options, expected",
    [
        ("bf16", {}, 16),
        ("bf16", {"gradient_precision": "fp32"}, 18),  # Hugging Face: 6 + 4 + 8
        ("fp32", {}, 16),  # 4 + 4 + 8, without a second copy of the weights
        ("bf16", {"optimizer_bytes": 6}, 10),  # 8-bit Adam: two moments of 1 byte, and the copy
        ("bf16", {"optimizer_bytes": 4}, 8),  # pure bf16 (LLaMA-Factory: 8 bytes a parameter)
        ("fp8", {}, 15),
    ],
)
def test_bytes_per_parameter(precision, options, expected):
    assert sized("1b", precision, **options) == expected * 10**9


def test_lora_holds_the_frozen_weights_and_16_bytes_for_each_adapter_parameter():
    assert sized("8b", method="lora") == 16 * 10**9 + 80 * 10**6 * 16
    half = Fraction(1, 2)
    assert sized("8b", "int4", method="lora", trainable_percent=half) == 4 * 10**9 + 640 * 10**6


# ---- published figures, in GB


@pytest.mark.parametrize(
    "size, precision, options, published",
    [
        # hiyouga/LLaMA-Factory: README.md, hardware requirement; without a reserve
        ("7b", "bf16", {"gradient_precision": "fp32"}, 120),
        ("7b", "bf16", {"optimizer_bytes": 4}, 60),
        ("7b", "bf16", {"method": "lora"}, 16),
        ("7b", "int8", {"method": "lora"}, 10),
        ("7b", "int4", {"method": "lora"}, 6),
        ("13b", "int4", {"method": "lora"}, 12),
        ("70b", "bf16", {"gradient_precision": "fp32"}, 1200),
        ("70b", "bf16", {"method": "lora"}, 160),
        ("70b", "int4", {"method": "lora"}, 48),
    ],
)
def test_requirements_that_llama_factory_publishes(size, precision, options, published):
    workload = replace(job("llama-2", size, precision=precision, **options), utilisation=100)
    assert sizing.needed_bytes(workload) / 10**9 == pytest.approx(published, rel=0.15)


def test_qlora_of_65b_fits_48_gb():
    # QLoRA (Dettmers et al., 2023): a 65B model on one card of 48 GB, sequences of 512 tokens.
    facts = ModelFacts(
        name="LLaMA-65B",
        parameters=65_285_660_672,
        kv_values_per_token=None,
        kv_shards=1,
        max_context=2048,
        precision="bf16",
        activation_bytes_per_token=(2 * 80 + 34) * 8192 + 4 * 32000,
    )
    lora = MemoryDemand(
        facts=facts, precision="int4", context_length=512, training=Training(method="lora")
    )
    assert sizing.devices(lora, usable("rtx-6000-ada")) == 1
    # "more than 780 GB" for full fine-tuning
    full = MemoryDemand(facts=facts, training=Training())
    assert sizing.needed_bytes(full) > 780 * 10**9


# ---- by hand


@pytest.mark.parametrize(
    "family, size, parameters, activations",
    [
        # 2048 tokens x ((2 x layers + 34) x hidden + 4 x vocabulary)
        ("llama-2", "7b", 6_738_415_616, 2048 * (98 * 4096 + 4 * 32000)),
        ("llama-3.1", "8b", 8_030_261_248, 2048 * (98 * 4096 + 4 * 128256)),
        ("llama-2", "13b", 13_015_864_320, 2048 * (114 * 5120 + 4 * 32000)),
        ("llama-3.1", "70b", 70_553_706_496, 2048 * (194 * 8192 + 4 * 128256)),
    ],
)
def test_the_need_by_hand(family, size, parameters, activations):
    def need(devices, **options):
        return sizing.needed_bytes(job(family, size, **options), devices)

    def with_devices(state, devices):
        return -(-(state + devices * (GIB + activations)) * 100 // 90)

    assert need(1) == with_devices(16 * parameters, 1)
    assert need(8) == with_devices(16 * parameters, 8)
    assert need(8, pods=8) == with_devices(2 * parameters, 8)
    assert need(8, pods=8, sharding="none") == with_devices(16 * parameters, 8)
    # ZeRO-1: 4 bytes, and an eighth of 12
    assert need(8, pods=8, sharding="optimizer") * 90 // 100 == pytest.approx(
        Fraction(11, 2) * parameters + 8 * (GIB + activations), abs=2
    )
    adapters = -(-parameters // 100)
    assert need(1, method="lora") == with_devices(2 * parameters + 16 * adapters, 1)
    assert need(1, method="lora", precision="int4") == with_devices(
        -(-parameters // 2) + 16 * adapters, 1
    )


@pytest.mark.parametrize(
    "family, size, options, pods, each",
    [
        # an H100 has 79.10 GiB; 90 percent of it, without 1 GiB and the activations, is 68.4 GiB for
        # the 119.7 GiB of an 8B model, 69.2 GiB for the 100.4 GiB of Llama-2-7B, 68.8 GiB for the
        # 194 GiB of 13B, and 66.2 GiB for the 1051.3 GiB of 70B
        ("llama-3.1", "8b", {}, 1, 2),
        ("llama-2", "7b", {}, 1, 2),
        ("llama-2", "13b", {}, 1, 4),
        ("llama-3.1", "70b", {}, 1, 16),
        ("llama-3.1", "70b", {}, 2, 8),
        ("llama-3.1", "70b", {}, 8, 2),
        ("llama-3.1", "70b", {}, 16, 1),
        ("llama-3.1", "70b", {}, 64, 1),
        # 131.4 GiB of weights, 131.4 of gradients, and 788.5 / 8 of optimizer states: 361.4 GiB
        ("llama-3.1", "70b", {"sharding": "optimizer"}, 8, 8),
        # 131.4 + (131.4 + 788.5) / 8 = 246.4 GiB
        ("llama-3.1", "70b", {"sharding": "gradients"}, 8, 4),
        ("llama-3.1", "70b", {"sharding": "none"}, 8, 16),
        ("llama-3.1", "8b", {"sharding": "none"}, 64, 2),
        # LoRA: 131.4 GiB and 10.5 GiB of adapters; with int4 weights 43.4 GiB
        ("llama-3.1", "70b", {"method": "lora"}, 1, 4),
        ("llama-3.1", "70b", {"method": "lora", "precision": "int4"}, 1, 1),
        ("llama-3.1", "8b", {"method": "lora"}, 1, 1),
    ],
)
def test_devices_of_one_pod_on_h100(family, size, options, pods, each):
    assert sizing.devices(job(family, size, pods=pods, **options), usable("h100-80gb")) == each


def test_a_longer_sequence_needs_more_activations():
    per_token = 98 * 4096 + 4 * 128256
    one, four = (job("llama-3.1", "8b", context=length) for length in (2048, 8192))
    assert sizing.device_bytes(four) - sizing.device_bytes(one) == 3 * 2048 * per_token
    stated = job("llama-3.1", "8b", context=8192, activation_bytes=5 * GIB)
    assert sizing.device_bytes(stated) == 6 * GIB


def test_a_small_lora_fits_one_instance():
    need = sizing.needed_bytes(job("qwen2.5", "1.5b", method="lora"))
    chosen = sizing.mig_fit(need, catalog.mig_profiles(catalog.products()["a100-40gb"]))
    assert chosen is not None
    assert chosen.name == "1g.10gb"


def test_training_has_no_kv_cache():
    workload = replace(job("llama-3.1", "8b"), concurrency=1000)
    assert sizing.kv_bytes(workload) is None
    assert sizing.needed_bytes(workload) == sizing.needed_bytes(job("llama-3.1", "8b"))


def test_all_weights_are_trained_in_bf16_however_they_are_published():
    assert job("deepseek-v3", "671b").precision == "bf16"
    assert job("deepseek-v3", "671b", method="lora").precision == "fp8"


# ---- assumptions


def test_every_default_is_named():
    assert sizing.assumptions(job("llama", "70b", pods=4)) == (
        "Llama-3.1-70B for the ambiguous name llama 70b",
        "weight precision bf16",
        "training of all parameters (not LoRA)",
        "16 bytes per parameter for weights, gradients and Adam",
        "all of it divided over 4 pods (sharding full)",
        "4.01 GiB of activations per GPU for one sequence of 2048 tokens",
        "1 GiB of memory per GPU for the runtime",
        "90% of GPU memory for the model",
    )
    assert sizing.assumptions(job("qwen2.5", "7b", method="lora"))[1:4] == (
        "adapters with 1% of the parameters",
        "16 bytes per adapter parameter",
        "1.78 GiB of activations per GPU for one sequence of 2048 tokens",
    )


def test_an_overridden_value_is_not_an_assumption():
    workload = job(
        "llama-3.1",
        "70b",
        precision="fp8",
        pods=4,
        method="lora",
        trainable_percent=Fraction(1),
        gradient_precision="bf16",
        optimizer_bytes=12,
        sharding="full",
        activation_bytes=GIB,
    )
    workload = replace(workload, runtime_memory_bytes=2 * GIB, utilisation=95)
    assert sizing.assumptions(workload) == ()


def test_an_unknown_family_has_no_activations_and_a_note():
    workload = MemoryDemand(facts=models.model("falcon", "40b"), training=Training())
    assert sizing.device_bytes(workload) == GIB
    missing = "no memory for activations, because the model's dimensions are unknown"
    assert missing in sizing.assumptions(workload)


# ---- properties

options = st.builds(
    Training,
    pods=st.integers(1, 100),
    method=st.sampled_from([None, "full", "lora"]),
    trainable_percent=st.none() | st.fractions(Fraction(1, 1000), 20, max_denominator=1000),
    gradient_precision=st.sampled_from([None, "fp32", "bf16"]),
    optimizer_bytes=st.none() | st.integers(0, 20),
    sharding=st.sampled_from([None, *SHARDINGS]),
    activation_bytes=st.none() | st.integers(0, 50),
)
facts = st.builds(
    ModelFacts,
    name=st.just("m"),
    parameters=st.integers(10, 10**4),
    kv_values_per_token=st.none() | st.integers(1, 200),
    kv_shards=st.sampled_from([1, 4, 8]),
    max_context=st.none(),
    precision=st.sampled_from(["bf16", "fp8"]),
    activation_bytes_per_token=st.none() | st.integers(1, 5),
)
jobs = st.builds(
    MemoryDemand,
    facts=facts,
    precision=st.sampled_from(["", *models.BITS]),
    context_length=st.integers(1, 9),
    runtime_memory_bytes=st.integers(0, 50),
    utilisation=st.integers(1, 100),
    any_count=st.booleans(),
    training=options,
)


@settings(max_examples=300)
@given(jobs, st.integers(1, 10**5))
def test_the_count_is_the_first_that_holds_the_need(workload, card):
    allowed = range(1, 601) if workload.any_count else [1 << power for power in range(10)]
    holds = [n for n in allowed if n * card >= sizing.needed_bytes(workload, n)]
    required = sizing.devices(workload, card)
    if required is None or required > allowed[-1]:
        assert holds == []
    else:
        assert holds == list(allowed[list(allowed).index(required) :])


@settings(max_examples=300)
@given(jobs, st.integers(1, 64), st.integers(1, 64))
def test_more_devices_or_pods_never_need_more_memory_on_each(workload, devices, more):
    def each(pods, devices):
        trained = replace(workload.training, pods=pods)
        return Fraction(sizing.needed_bytes(replace(workload, training=trained), devices), devices)

    pods = workload.training.pods
    # the need of a pod is rounded up to a byte
    assert each(pods, devices + more) <= each(pods, devices) + 1
    assert each(pods + more, devices) <= each(pods, devices)


@settings(max_examples=200)
@given(jobs, st.integers(1, 16))
def test_more_sharding_never_needs_more(workload, devices):
    needs = [
        sizing.needed_bytes(
            replace(workload, training=replace(workload.training, sharding=sharding)), devices
        )
        for sharding in SHARDINGS
    ]
    assert needs == sorted(needs)
    if workload.training.pods == 1:
        assert needs[0] == needs[-1]


@settings(max_examples=200)
@given(
    jobs,
    st.fractions(Fraction(1, 1000), 50, max_denominator=1000),
    # If many pods divide only gradients and optimizer states, the adapters' weights can weigh more.
    st.sampled_from(["none", "full"]),
)
def test_lora_needs_less_than_full(workload, percent, sharding):
    def need(precision, **changes):
        trained = replace(workload.training, optimizer_bytes=None, sharding=sharding, **changes)
        return sizing.needed_bytes(replace(workload, precision=precision, training=trained))

    lora = {"method": "lora", "trainable_percent": percent}
    assert need("bf16", **lora) <= need("bf16", method="full")
    assert need("int4", **lora) <= need("int8", **lora) <= need("bf16", **lora)
