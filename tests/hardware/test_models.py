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


DIMENSIONS = {
    # attention heads, width of the feed-forward layers, embeddings (1 if the output layer is the
    # input's), experts
    "codellama 7b": (32, 11008, 2, 1),
    "codellama 13b": (40, 13824, 2, 1),
    "codellama 34b": (64, 22016, 2, 1),
    "gemma-2 2b": (8, 9216, 1, 1),
    "gemma-2 9b": (16, 14336, 1, 1),
    "gemma-2 27b": (32, 36864, 1, 1),
    "llama-2 7b": (32, 11008, 2, 1),
    "llama-2 13b": (40, 13824, 2, 1),
    "llama-2 70b": (64, 28672, 2, 1),
    "llama-3 8b": (32, 14336, 2, 1),
    "llama-3 70b": (64, 28672, 2, 1),
    "llama-3.1 8b": (32, 14336, 2, 1),
    "llama-3.1 70b": (64, 28672, 2, 1),
    "llama-3.1 405b": (128, 53248, 2, 1),
    "llama-3.2 1b": (32, 8192, 1, 1),
    "llama-3.2 3b": (24, 8192, 1, 1),
    "llama-3.3 70b": (64, 28672, 2, 1),
    "mistral 7b": (32, 14336, 2, 1),
    "mistral 123b": (96, 28672, 2, 1),
    "mixtral 8x7b": (32, 14336, 2, 8),
    "mixtral 8x22b": (48, 16384, 2, 8),
    "phi-3 3.8b": (32, 8192, 2, 1),
    "phi-4 14b": (40, 17920, 2, 1),
    "qwen2.5 0.5b": (14, 4864, 1, 1),
    "qwen2.5 1.5b": (12, 8960, 1, 1),
    "qwen2.5 3b": (16, 11008, 1, 1),
    "qwen2.5 7b": (28, 18944, 2, 1),
    "qwen2.5 14b": (40, 13824, 2, 1),
    "qwen2.5 32b": (40, 27648, 2, 1),
    "qwen2.5 72b": (64, 29568, 2, 1),
    "qwen3 0.6b": (16, 3072, 1, 1),
    "qwen3 1.7b": (16, 6144, 1, 1),
    "qwen3 4b": (32, 9728, 1, 1),
    "qwen3 8b": (32, 12288, 2, 1),
    "qwen3 14b": (40, 17408, 2, 1),
    "qwen3 30b": (32, 768, 2, 128),
    "qwen3 32b": (64, 25600, 2, 1),
    "qwen3 235b": (64, 1536, 2, 128),
}


# Models with latent attention and shared experts have more dimensions.
ROWS = [row for row in DATA["models"]["models"] if "kv_latent" not in row]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_parameters_are_what_the_dimensions_give(row):
    family, hidden, head = row["family"], row["hidden"], row["head_dim"]
    heads, width, embeddings, experts = DIMENSIONS[f"{family} {row['size']}"]
    projections = (heads + 2 * row["kv_heads"]) * head
    layer = hidden * projections + heads * head * hidden + 3 * hidden * width * experts
    layer += hidden * experts if experts > 1 else 0  # the router
    layer += (4 if family == "gemma-2" else 2) * hidden  # norms
    layer += {"qwen2.5": projections, "qwen3": 2 * head}.get(family, 0)  # biases, norms of heads
    ends = embeddings * row["vocabulary"] * hidden + hidden
    assert row["parameters"] == ends + row["layers"] * layer


def test_activations_of_a_token():
    # 32 layers of 4,096 hidden units, and 128,256 entries of the vocabulary
    facts = models.model("llama-3.1", "8b")
    assert facts is not None
    assert facts.activation_bytes_per_token == 2 * 32 * 4096 + 34 * 4096 + 4 * 128_256


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
