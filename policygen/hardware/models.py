"""What is known of models that run on the hardware, and what the name of another one says."""

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from policygen.hardware.data import read

_SIZE = r"(?:[0-9]{1,3}x)?[0-9]{1,6}(?:\.[0-9]{1,3})?[mbt]"
_NAMED = re.compile(rf"(?P<family>.*?)[-:]?(?P<size>{_SIZE}(?:-a[0-9.]{{1,6}}b)?)")
_PARAMETERS = re.compile(
    r"(?:(?P<experts>[0-9]{1,3})x)?(?P<whole>[0-9]{1,6})(?:\.(?P<part>[0-9]{1,3}))?(?P<unit>[mbt])"
)
_UNITS = {"m": 10**6, "b": 10**9, "t": 10**12}
_VARIANT = re.compile(r"(-(instruct|chat|base|hf|it))+$")


class ModelFacts(Struct, frozen=True):
    """What sizing must know of a model."""

    name: str
    parameters: int
    """All of them, every expert included."""
    kv_values_per_token: int | None
    """Numbers that one token leaves in the KV cache; None: unknown."""
    kv_shards: int
    """Over how many devices the KV cache can be split; beyond them it is kept several times."""
    max_context: int | None
    precision: str
    """Of the published weights."""
    assumption: str | None = None
    """What was read into the name, in words."""

    @property
    def assumed(self) -> bool:
        """The name fits several models, or the figures come from the size alone."""
        return self.assumption is not None


def models() -> Mapping[tuple[str, str], ModelFacts]:
    """Every known model by family and size."""
    return _models()


def model(family: str | None, size: str | None) -> ModelFacts | None:
    """Facts of a model by family and size; without a size, the family may end in one.

    A family that is not known, or not in this size, still has the parameters that its size
    says. None when there is no size that can be read.
    """
    word = _family(family or "")
    if size is None:
        found = _NAMED.fullmatch(word)
        if found is None:
            return _only(word)
        word, wanted = found["family"], found["size"]
    else:
        wanted = size.strip().lower()
    # The active parameters of a mixture (30b-a3b) are not what must be in memory.
    wanted = wanted.partition("-a")[0]
    data = read("models.json")
    word = data["family_aliases"].get(word, word)
    exact = _models().get((word, wanted))
    if exact is not None:
        return exact
    asked = " ".join(part for part in (word, wanted) if part)
    guess = data["ambiguous"].get(word, {}).get(wanted)
    if guess is not None:
        facts = _models()[guess, wanted]
        return replace(facts, assumption=f"{asked} is read as {facts.name}")
    return _from_size(asked, wanted)


def model_names() -> tuple[str, ...]:
    """Everything that `model` has figures for, as `family size`, for suggestions."""
    data = read("models.json")
    guessed = [(family, size) for family, sizes in data["ambiguous"].items() for size in sizes]
    return tuple(sorted(" ".join(pair) for pair in (*_models(), *guessed)))


@cache
def _models() -> Mapping[tuple[str, str], ModelFacts]:
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
        )
    return MappingProxyType(found)


def _family(name: str) -> str:
    """A family in lower case with dashes, without the organisation and the kind of training."""
    word = re.sub(r"[\s_]+", "-", name.strip().lower()).rpartition("/")[2]
    return _VARIANT.sub("", word)


def _only(family: str) -> ModelFacts | None:
    """The one model of a family that comes in a single size."""
    family = read("models.json")["family_aliases"].get(family, family)
    sizes = [facts for (name, _), facts in _models().items() if name == family]
    return sizes[0] if len(sizes) == 1 else None


def _from_size(asked: str, size: str) -> ModelFacts | None:
    said = _PARAMETERS.fullmatch(size)
    if said is None:
        return None
    thousandths = int(said["whole"]) * 1000 + int((said["part"] or "").ljust(3, "0"))
    # Experts share some layers, so that this is more than the truth, never less.
    parameters = thousandths * _UNITS[said["unit"]] // 1000 * int(said["experts"] or 1)
    if parameters == 0:
        return None
    return ModelFacts(
        name=asked,
        parameters=parameters,
        kv_values_per_token=None,
        kv_shards=1,
        max_context=None,
        precision="bf16",
        assumption=f"the parameters of {asked} are read from its size",
    )
