"""Data of models, and the names that people use for them."""

import pytest

from policygen.hardware import models
from tests.hardware.files import DATA


@pytest.mark.parametrize(
    "family, size, parameters, kv_bytes",
    [
        # reference table: parameters, layers x kv heads x head dim, KV KiB a token
        ("llama-2", "7b", 6_738_415_616, 512 * 1024),
        ("llama-2", "13b", 13_015_864_320, 800 * 1024),
        ("llama-2", "70b", 68_976_648_192, 320 * 1024),
        ("llama-3.1", "8b", 8_030_261_248, 128 * 1024),
        ("llama-3.1", "70b", 70_553_706_496, 320 * 1024),
        ("qwen2.5", "32b", 32_763_876_352, 256 * 1024),
        # latent attention: 61 layers x (512 + 64) values
        ("deepseek-v3", "671b", 671_026_419_200, 61 * 576 * 2),
    ],
)
def test_figures_of_a_model(family, size, parameters, kv_bytes):
    facts = models.model(family, size)
    assert facts is not None
    assert (facts.parameters, 2 * facts.kv_values_per_token) == (parameters, kv_bytes)
    assert not facts.assumed


@pytest.mark.parametrize(
    "key, vocabulary, hidden, intermediate, heads",
    [
        (("llama-2", "7b"), 2 * 32000, 4096, 11008, 32),
        (("llama-3.1", "405b"), 2 * 128256, 16384, 53248, 128),
        # its output layer is the input's
        (("llama-3.2", "1b"), 128256, 2048, 8192, 32),
        (("mistral", "7b"), 2 * 32768, 4096, 14336, 32),
        (("phi-4", "14b"), 2 * 100352, 5120, 17920, 40),
    ],
)
def test_parameters_are_what_the_dimensions_give(key, vocabulary, hidden, intermediate, heads):
    row = next(row for row in DATA["models"]["models"] if (row["family"], row["size"]) == key)
    queries = hidden * heads * row["head_dim"]
    keys = hidden * row["kv_heads"] * row["head_dim"]
    layer = 2 * queries + 2 * keys + 3 * hidden * intermediate + 2 * hidden
    assert row["parameters"] == vocabulary * hidden + row["layers"] * layer + hidden


@pytest.mark.parametrize(
    "family, size, name",
    [
        ("llama", "7b", "Llama-2-7B"),
        ("llama", "8B", "Llama-3.1-8B"),
        ("llama", "13b", "Llama-2-13B"),
        ("llama", "70b", "Llama-3.1-70B"),
        ("llama", "405b", "Llama-3.1-405B"),
        ("qwen", "7b", "Qwen2.5-7B"),
        ("gemma", "27b", "Gemma-2-27B"),
    ],
)
def test_a_bare_family_is_read_as_one_of_its_models_with_a_note(family, size, name):
    facts = models.model(family, size)
    assert facts is not None
    assert (facts.name, facts.assumed) == (name, True)
    assert facts.assumption == f"{name} for the ambiguous name {family} {size.lower()}"


@pytest.mark.parametrize(
    "family, size, name",
    [
        ("llama2", "7b", "Llama-2-7B"),
        ("Llama 3.1", "8B", "Llama-3.1-8B"),
        ("llama_3.3", "70b", "Llama-3.3-70B"),
        ("meta-llama/Llama-3.1-8B-Instruct", None, "Llama-3.1-8B"),
        ("Llama-2-7b-chat-hf", None, "Llama-2-7B"),
        ("mixtral-8x7b", None, "Mixtral-8x7B"),
        ("mixtral", "8x22B", "Mixtral-8x22B"),
        ("qwen3:32b", None, "Qwen3-32B"),
        ("qwen3", "30b-a3b", "Qwen3-30B-A3B"),
        ("Qwen/Qwen3-235B-A22B", None, "Qwen3-235B-A22B"),
        ("deepseek-v3", None, "DeepSeek-V3"),
        ("DeepSeek-R1", "671B", "DeepSeek-R1"),
        ("gemma2", "9b", "Gemma-2-9B"),
    ],
)
def test_a_model_is_found_by_the_names_people_write(family, size, name):
    facts = models.model(family, size)
    assert facts is not None
    assert (facts.name, facts.assumed) == (name, False)


@pytest.mark.parametrize(
    "family, size, parameters",
    [
        ("falcon", "13b", 13 * 10**9),
        ("own", "1.5b", 1_500_000_000),
        ("opt", "350m", 350_000_000),
        ("own", "8x7b", 56 * 10**9),
        ("own", "1.1T", 1_100_000_000_000),
        ("llama", "65b", 65 * 10**9),
        (None, "7b", 7 * 10**9),
        ("own-13b", None, 13 * 10**9),
        ("dbrx", "132b-a36b", 132 * 10**9),
    ],
)
def test_an_unknown_model_has_the_parameters_of_its_size_and_no_kv_figures(
    family, size, parameters
):
    facts = models.model(family, size)
    assert facts is not None
    assert (facts.parameters, facts.kv_values_per_token) == (parameters, None)
    assert facts.assumed


@pytest.mark.parametrize(
    "family, size",
    [
        (None, None),
        ("", ""),
        ("llama", None),
        ("falcon", "big"),
        ("own", "0b"),
        ("own", "7"),
        ("own", "1e9b"),
        ("own", "-7b"),
        ("own", "9" * 5000 + "b"),
        ("x" * 100_000, None),
    ],
)
def test_without_a_size_that_can_be_read_there_are_no_facts(family, size):
    assert models.model(family, size) is None


def test_guesses_name_models_that_exist():
    data = DATA["models"]
    families = {family for family, _ in models.models()}
    assert set(data["family_aliases"].values()) <= families
    for family, sizes in data["ambiguous"].items():
        assert family not in families
        assert {(guess, size) for size, guess in sizes.items()} <= set(models.models())


def test_model_names_can_be_suggested():
    names = models.model_names()
    assert {"llama 7b", "llama-3.1 8b", "mixtral 8x7b"} <= set(names)
    assert list(names) == sorted(names)
