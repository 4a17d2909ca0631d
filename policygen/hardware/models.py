"""Data of known models, and what the name of an unknown one shows."""

import re
from collections.abc import Mapping
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from policygen.hardware.data import read

BITS = {"fp32": 32, "fp16": 16, "bf16": 16, "fp8": 8, "int8": 8, "int4": 4}
"""Bits of a number by precision, without the scales of quantised weights."""

_SIZE = r"(?:[0-9]{1,3}x)?[0-9]{1,6}(?:\.[0-9]{1,3})?[mbt]"
_NAMED = re.compile(rf"(?P<family>.*?)[-:]?(?P<size>{_SIZE}(?:-a[0-9.]{{1,6}}b)?)")
_PARAMETERS = re.compile(
    r"(?:(?P<experts>[0-9]{1,3})x)?(?P<whole>[0-9]{1,6})(?:\.(?P<part>[0-9]{1,3}))?(?P<unit>[mbt])"
)
_UNITS = {"m": 10**6, "b": 10**9, "t": 10**12}
_VARIANT = re.compile(r"(-(instruct|chat|base|hf|it))+$")


class ModelFacts(Struct, frozen=True):
    """The facts of a model that sizing needs."""

    name: str
    parameters: int
    """All parameters, including every expert."""
    kv_values_per_token: int | None
    """Values that one token adds to the KV cache; None if unknown."""
    kv_shards: int
    """The most devices over which the KV cache can be split; with more, it is stored several times."""
    max_context: int | None
    precision: str
    """Precision of the published weights."""
    activation_bytes_per_token: int | None = None
    """Bytes that one token of a training sequence adds to the activations; None if unknown.

    With checkpointing, 2 for each hidden unit of each layer; 34 for each hidden unit of the layer
    that is computed again, without the attention scores, which flash attention does not store; and
    4 for each entry of the vocabulary (Korthikanti et al., Reducing Activation Recomputation in
    Large Transformer Models, 2022, sections 4.1, 4.3 and 5).
    """
    assumption: str | None = None
    """The assumption that was made from the name, as text."""

    @property
    def assumed(self) -> bool:
        """True if the name matches several models, or the figures come from the size alone."""
        return self.assumption is not None


@cache
def models() -> Mapping[tuple[str, str], ModelFacts]:
    """Every known model by family and size."""
    found: dict[tuple[str, str], ModelFacts] = {}
    for row in read("models.json")["models"]:
        latent = row.get("kv_latent")
        heads = 1 if latent else row["kv_heads"]
        width = latent or 2 * heads * row["head_dim"]
        found[row["family"], row["size"]] = ModelFacts(
            name=row["name"],
            parameters=row["parameters"],
            kv_values_per_token=row["layers"] * width,
            kv_shards=heads,
            max_context=row["max_context"],
            precision=row.get("precision", "bf16"),
            activation_bytes_per_token=(2 * row["layers"] + 34) * row["hidden"]
            + 4 * row["vocabulary"],
        )
    return found


def model(family: str | None, size: str | None) -> ModelFacts | None:
    """Facts of a model by family and size; without a size, the family may end in one.

    An unknown family, or an unknown size of a family, still has the number of parameters in its
    size. Returns None if no size can be read.
    """
    word = _family(family or "")
    if size is None:
        found = _NAMED.fullmatch(word)
        if found is None:
            return _only(word)
        word, requested = found["family"], found["size"]
    else:
        requested = size.strip().lower()
    # All parameters of a mixture (30b-a3b) must be in memory, not only the active ones.
    requested = requested.partition("-a")[0]
    data = read("models.json")
    word = data["family_aliases"].get(word, word)
    exact = models().get((word, requested))
    if exact is not None:
        return exact
    full_name = " ".join(part for part in (word, requested) if part)
    guess = data["ambiguous"].get(word, {}).get(requested)
    if guess is not None:
        facts = models()[guess, requested]
        return replace(facts, assumption=f"{facts.name} for the ambiguous name {full_name}")
    return _from_size(full_name, requested)


def sizes(family: str) -> tuple[str, ...]:
    """The known sizes of a family, the smallest first; empty for an unknown family."""
    data = read("models.json")
    word = _family(family)
    word = data["family_aliases"].get(word, word)
    found = {size: facts.parameters for (name, size), facts in models().items() if name == word}
    found |= {
        size: models()[exact, size].parameters
        for size, exact in data["ambiguous"].get(word, {}).items()
    }
    return tuple(sorted(found, key=lambda size: (found[size], size)))


def known(family: str, size: str) -> bool:
    """Whether the data has a model of this family and size."""
    facts = model(family, size)
    return facts is not None and facts.kv_values_per_token is not None


def is_size(size: str) -> bool:
    """Whether a known model of any family has this size."""
    return any(size == known for _, known in models())


def model_names() -> tuple[str, ...]:
    """Every model with figures, as `family size`, for suggestions."""
    data = read("models.json")
    guessed = [(family, size) for family, sizes in data["ambiguous"].items() for size in sizes]
    return tuple(sorted(" ".join(pair) for pair in (*models(), *guessed)))


def _family(name: str) -> str:
    """A family in lower case with dashes, without organisation and kind of training."""
    word = re.sub(r"[\s_]+", "-", name.strip().lower()).rpartition("/")[2]
    return _VARIANT.sub("", word)


def _only(family: str) -> ModelFacts | None:
    """The model of a family with a single size; None if it has several."""
    family = read("models.json")["family_aliases"].get(family, family)
    sizes = [facts for (name, _), facts in models().items() if name == family]
    return sizes[0] if len(sizes) == 1 else None


def _from_size(full_name: str, size: str) -> ModelFacts | None:
    written = _PARAMETERS.fullmatch(size)
    if written is None:
        return None
    thousandths = int(written["whole"]) * 1000 + int((written["part"] or "").ljust(3, "0"))
    # Experts share some layers, so this is an upper bound.
    parameters = thousandths * _UNITS[written["unit"]] // 1000 * int(written["experts"] or 1)
    if parameters == 0:
        return None
    return ModelFacts(
        name=full_name,
        parameters=parameters,
        kv_values_per_token=None,
        kv_shards=1,
        max_context=None,
        precision="bf16",
        assumption=f"the number of parameters that the size of {full_name} states",
    )
