"""What is known of GPUs, MIG profiles, node shapes and models: the data files beside this module, typed."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

MEBIBYTE = 1 << 20
GIBIBYTE = 1 << 30


_DATA = Path(__file__).parent


class Product(Struct, frozen=True):
    """A GPU as it is sold."""

    id: str
    memory_mib: int
    """What a process can use of one card: less than the figure in the name."""
    labels: tuple[str, ...]
    """Values of the node label nvidia.com/gpu.product."""
    mig: str | None
    """The family of its MIG profiles; None: it cannot be cut."""
    per_node: int
    """GPUs of its default node shape."""
    shape: str
    """Name of the node shape that stands for its nodes when a pool says nothing."""


class Match(Struct, frozen=True):
    """The product that a name means."""

    product: Product
    assumed: bool
    """The name fits several cards."""


class MigProfile(Struct, frozen=True):
    """A size that a card can be cut into."""

    name: str
    """As NVIDIA writes it: `1g.10gb`, `1g.10gb+me`."""
    compute_slices: int
    memory_slices: int
    max_per_gpu: int
    """How many of this profile alone fit on one card."""
    memory_mib: int
    """What one instance offers."""

    @property
    def resource_suffix(self) -> str:
        """The part of its resource name after the domain: `mig-1g.10gb.me`.

        A resource name has no plus sign; source: NVIDIA/k8s-device-plugin, internal/rm/rm.go.
        """
        return "mig-" + self.name.replace("+", ".")


class Shape(Struct, frozen=True):
    """A node as a cloud sells it; cpu and memory are capacity, not allocatable."""

    name: str
    gpus: int
    product: str
    """Product id."""
    cpu_milli: int
    memory_bytes: int


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


def products() -> Mapping[str, Product]:
    """Every known product by id."""
    return _products()[0]


def product(name: str) -> Match | None:
    """The product that a label, a cloud's name or a user's short name means, in any case.

    Suffixes that the device plugin appends to the label (`-SHARED`, `-MIG-1g.10gb`) are ignored.
    """
    by_name = _products()[1]
    return next((by_name[word] for word in _spellings(name) if word in by_name), None)


def product_names() -> tuple[str, ...]:
    """Everything that `product` knows by name, for suggestions."""
    labels = [label for known in products().values() for label in known.labels]
    return tuple(sorted({*_products()[1], *labels}))


def mig_profiles(product: Product) -> Mapping[str, MigProfile]:
    """The product's MIG profiles by name; empty when it cannot be cut."""
    return _NO_PROFILES if product.mig is None else _families()[product.mig]


def shapes() -> Mapping[str, Shape]:
    """Every known node shape by name."""
    return _shapes()[0]


def shape(name: str) -> Shape | None:
    """The node shape of an instance type, in any case."""
    return _shapes()[1].get(name.strip().lower())


def system_reserved(cpu_milli: int, memory_bytes: int) -> tuple[int, int]:
    """What a node of this capacity keeps for itself: cpu in thousandths of a core, and bytes.

    GKE's published tiers of kube-reserved and its eviction threshold, after what the kernel
    takes of the memory that the cloud sells. Rounded up to 1m and 1Mi, at most the capacity.
    Source: `system_reserved` in shapes.json.
    """
    rule = _read("shapes.json")["system_reserved"]
    cpu = _tiers(cpu_milli, rule["cpu_share"], 1000)
    kernel = memory_bytes // int(rule["kernel_one_in"]) + int(rule["kernel_mib"]) * MEBIBYTE
    memory = kernel + int(rule["eviction_mib"]) * MEBIBYTE
    memory += _tiers(max(memory_bytes - kernel, 0), rule["memory_share"], GIBIBYTE)
    return min(cpu, cpu_milli), min(-(-memory // MEBIBYTE) * MEBIBYTE, memory_bytes)


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
    data = _read("models.json")
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
    data = _read("models.json")
    guessed = [(family, size) for family, sizes in data["ambiguous"].items() for size in sizes]
    return tuple(sorted(" ".join(pair) for pair in (*_models(), *guessed)))


_NO_PROFILES: Mapping[str, MigProfile] = MappingProxyType({})

_ADDED = re.compile(r"(-mig-.*|-shared)$")
_MAKERS = ("nvidia-", "tesla-", "geforce-")

_SIZE = r"(?:[0-9]{1,3}x)?[0-9]{1,6}(?:\.[0-9]{1,3})?[mbt]"
_NAMED = re.compile(rf"(?P<family>.*?)[-:]?(?P<size>{_SIZE}(?:-a[0-9.]{{1,6}}b)?)")
_PARAMETERS = re.compile(
    r"(?:(?P<experts>[0-9]{1,3})x)?(?P<whole>[0-9]{1,6})(?:\.(?P<part>[0-9]{1,3}))?(?P<unit>[mbt])"
)
_UNITS = {"m": 10**6, "b": 10**9, "t": 10**12}
_VARIANT = re.compile(r"(-(instruct|chat|base|hf|it))+$")


@cache
def _read(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((_DATA / name).read_text(encoding="utf-8"))
    return data


@cache
def _products() -> tuple[Mapping[str, Product], Mapping[str, Match]]:
    """Products by id, and what every spelling means."""
    data = _read("products.json")
    by_id: dict[str, Product] = {}
    by_name: dict[str, Match] = {}
    for row in data["products"]:
        found = Product(
            id=row["id"],
            memory_mib=row["memory_mib"],
            labels=tuple(row["labels"]),
            mig=row["mig"],
            per_node=shapes()[row["shape"]].gpus,
            shape=row["shape"],
        )
        by_id[found.id] = found
        labels = [list(_spellings(label))[-1] for label in found.labels]
        for name in (found.id, *labels, *row["aliases"]):
            by_name[name] = Match(found, assumed=False)
    for name, meant in data["ambiguous"].items():
        by_name[name] = Match(by_id[meant], assumed=True)
    return MappingProxyType(by_id), MappingProxyType(by_name)


def _spellings(name: str) -> Iterator[str]:
    """The name in lower case with dashes, then without the maker's words in front."""
    word = _ADDED.sub("", re.sub(r"[\s_]+", "-", name.strip().lower()))
    yield word
    for maker in _MAKERS:
        if word.startswith(maker):
            word = word.removeprefix(maker)
            yield word


@cache
def _families() -> Mapping[str, Mapping[str, MigProfile]]:
    return MappingProxyType(
        {
            family["id"]: MappingProxyType(
                {
                    row["name"]: MigProfile(
                        name=row["name"],
                        compute_slices=row["compute_slices"],
                        memory_slices=row["memory_slices"],
                        max_per_gpu=row["max_per_gpu"],
                        memory_mib=row["memory_mib"],
                    )
                    for row in family["profiles"]
                }
            )
            for family in _read("mig.json")["families"]
        }
    )


@cache
def _shapes() -> tuple[Mapping[str, Shape], Mapping[str, Shape]]:
    """Shapes by name, and by name in lower case."""
    by_name = {
        row["name"]: Shape(
            name=row["name"],
            gpus=row["gpus"],
            product=row["product"],
            cpu_milli=row["vcpu"] * 1000,
            memory_bytes=row["memory_mib"] * MEBIBYTE,
        )
        for row in _read("shapes.json")["shapes"]
    }
    lowered = {name.lower(): found for name, found in by_name.items()}
    return MappingProxyType(by_name), MappingProxyType(lowered)


def _tiers(amount: int, tiers: Sequence[Sequence[int | None]], unit: int) -> int:
    """Sum over the tiers of their share, in parts of 10,000, of what falls into them; rounded up."""
    total, below = 0, 0
    for bound, share in tiers:
        top = amount if bound is None else min(amount, bound * unit)
        total += max(top - below, 0) * (share or 0)
        below = max(below, top)
    return -(-total // 10_000)


@cache
def _models() -> Mapping[tuple[str, str], ModelFacts]:
    found: dict[tuple[str, str], ModelFacts] = {}
    for row in _read("models.json")["models"]:
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
    family = _read("models.json")["family_aliases"].get(family, family)
    sizes = [facts for (name, _), facts in _models().items() if name == family]
    return sizes[0] if len(sizes) == 1 else None


def _from_size(asked: str, size: str) -> ModelFacts | None:
    read = _PARAMETERS.fullmatch(size)
    if read is None:
        return None
    thousandths = int(read["whole"]) * 1000 + int((read["part"] or "").ljust(3, "0"))
    # Experts share some layers, so that this is more than the truth, never less.
    parameters = thousandths * _UNITS[read["unit"]] // 1000 * int(read["experts"] or 1)
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
