"""Typed hardware data: GPU products, MIG profiles and node shapes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from msgspec import Struct

from policygen.core.decoding import converted
from policygen.core.quantity import GIBIBYTE, MEBIBYTE
from policygen.hardware.data import read


class Product(Struct, frozen=True):
    """A GPU product."""

    id: str
    memory_mib: int
    """Memory of one card that a process can use, in MiB; less than the number in the name."""
    labels: tuple[str, ...]
    """Values of the node label nvidia.com/gpu.product."""
    mig: str | None
    """The family of its MIG profiles; None if it does not support MIG."""
    per_node: int
    """GPUs of its default node shape."""
    shape: str
    """Name of the node shape that is assumed if a pool does not set one."""


class Match(Struct, frozen=True):
    """The product that matches a name."""

    product: Product
    assumed: bool
    """True if the name matches several products."""


class MigProfile(Struct, frozen=True):
    """A size that a card can be cut into."""

    name: str
    """As NVIDIA writes it: `1g.10gb`, `1g.10gb+me`."""
    compute_slices: int
    memory_slices: int
    max_per_gpu: int
    """How many of this profile alone fit on one card."""
    memory_mib: int
    """Memory of one instance, in MiB."""
    starts: tuple[int, ...]
    """The memory slices of a card at which an instance may start."""
    engines: tuple[tuple[str, int], ...] = ()
    """Engines that an instance owns, where a card has too few of them for all instances."""

    @property
    def resource_suffix(self) -> str:
        """The part of its resource name after the domain: `mig-1g.10gb.me`.

        A resource name has no plus sign; source: NVIDIA/k8s-device-plugin, internal/rm/rm.go.
        """
        return "mig-" + self.name.replace("+", ".")


class MigFamily(Struct, frozen=True):
    """The MIG profiles that some products share, and the slices of one of their cards."""

    id: str
    compute_slices: int
    memory_slices: int
    profiles: Mapping[str, MigProfile]
    """By name."""
    engines: tuple[tuple[str, int], ...] = ()
    """The engines of a card that its instances compete for."""


class MachineType(Struct, frozen=True):
    """A node type of a cloud. cpu and memory are capacity, not allocatable."""

    name: str
    gpus: int
    product: str
    """Product id."""
    cpu_milli: int
    memory_bytes: int
    cloud: str
    """`generic` if policygen assumes the size."""


def products() -> Mapping[str, Product]:
    """Every known product by id."""
    return _products()[0]


def product(name: str) -> Match | None:
    """The product of a label, a cloud's name or a short name, in any case of letters; None if unknown.

    Suffixes that the device plugin appends to the label (`-SHARED`, `-MIG-1g.10gb`) are ignored.
    """
    by_name = _products()[1]
    return next((by_name[word] for word in _spellings(name) if word in by_name), None)


def product_names() -> tuple[str, ...]:
    """Every name that `product` knows, for suggestions."""
    labels = [label for known in products().values() for label in known.labels]
    return tuple(sorted({*_products()[1], *labels}))


def mig_family(product: Product) -> MigFamily | None:
    """The MIG family of a product; None if it does not support MIG."""
    return None if product.mig is None else _families()[product.mig]


def mig_profiles(product: Product) -> Mapping[str, MigProfile]:
    """The product's MIG profiles by name; empty if it does not support MIG."""
    family = mig_family(product)
    return family.profiles if family else {}


@cache
def shapes() -> Mapping[str, MachineType]:
    """Every known node shape by name."""
    return {
        row["name"]: converted(
            row | {"cpu_milli": row["vcpu"] * 1000, "memory_bytes": row["memory_mib"] * MEBIBYTE},
            MachineType,
        )
        for row in read("shapes.json")["shapes"]
    }


def shape(name: str) -> MachineType | None:
    """The node shape of an instance type, in any case of letters; None if unknown."""
    return _shapes_by_lower_name().get(name.strip().lower())


def known_shapes(node_type: str | None, product: Product | None) -> tuple[str, list[MachineType]]:
    """The published sizes of nodes like those of a pool, and what they have in common.

    Of its node type if known, else of its product, else of all products.
    """
    named = shape(node_type) if node_type else None
    if named is not None:
        return f"nodes of type {named.name}", [named]
    real = [it for it in shapes().values() if it.cloud != "generic"]
    same = [it for it in real if product and it.product == product.id]
    return (f"known nodes with {product.id}", same) if product and same else ("known nodes", real)


def system_reserved(cpu_milli: int, memory_bytes: int) -> tuple[int, int]:
    """The system reservation of a node with this capacity: cpu in thousandths of a core, and bytes.

    GKE's published tiers of kube-reserved and its eviction threshold, applied to the memory that
    the kernel leaves. Rounded up to 1m and 1Mi, at most the capacity.
    Source: `system_reserved` in shapes.json.
    """
    rule = read("shapes.json")["system_reserved"]
    cpu = _tiers(cpu_milli, rule["cpu_share"], 1000)
    kernel = memory_bytes // int(rule["kernel_one_in"]) + int(rule["kernel_mib"]) * MEBIBYTE
    memory = kernel + int(rule["eviction_mib"]) * MEBIBYTE
    memory += _tiers(max(memory_bytes - kernel, 0), rule["memory_share"], GIBIBYTE)
    return min(cpu, cpu_milli), min(-(-memory // MEBIBYTE) * MEBIBYTE, memory_bytes)


def for_daemon_sets(cpu_milli: int, memory_bytes: int) -> tuple[int, int]:
    """What the pods of DaemonSets need of the allocatable cpu (thousandths of a core) and memory of a node.

    A fixed amount, or a tenth of a small node. Source: `daemon_sets` in shapes.json.
    """
    rule = read("shapes.json")["daemon_sets"]
    share = int(rule["at_most_one_in"])
    memory = int(rule["memory_mib"]) * MEBIBYTE
    return min(int(rule["cpu_milli"]), cpu_milli // share), min(memory, memory_bytes // share)


_ADDED = re.compile(r"(-mig-.*|-shared)$")
_MAKERS = ("nvidia-", "tesla-", "geforce-")


@cache
def _products() -> tuple[Mapping[str, Product], Mapping[str, Match]]:
    """Products by id, and the match of every spelling."""
    data = read("products.json")
    by_id: dict[str, Product] = {}
    by_name: dict[str, Match] = {}
    for row in data["products"]:
        found = converted(row | {"per_node": shapes()[row["shape"]].gpus}, Product)
        by_id[found.id] = found
        labels = [list(_spellings(label))[-1] for label in found.labels]
        for name in (found.id, *labels, *row["aliases"]):
            by_name[name] = Match(found, assumed=False)
    for name, meant in data["ambiguous"].items():
        by_name[name] = Match(by_id[meant], assumed=True)
    return by_id, by_name


def _spellings(name: str) -> Iterator[str]:
    """The name in lower case with dashes, then without each maker prefix."""
    word = _ADDED.sub("", re.sub(r"[\s_]+", "-", name.strip().lower()))
    yield word
    for maker in _MAKERS:
        if word.startswith(maker):
            word = word.removeprefix(maker)
            yield word


@cache
def _families() -> Mapping[str, MigFamily]:
    return {
        row["id"]: converted(
            row | {"profiles": {profile["name"]: profile for profile in row["profiles"]}}, MigFamily
        )
        for row in read("mig.json")["families"]
    }


@cache
def _shapes_by_lower_name() -> Mapping[str, MachineType]:
    return {name.lower(): found for name, found in shapes().items()}


def _tiers(amount: int, tiers: Sequence[Sequence[int | None]], unit: int) -> int:
    """Sum over tiers of the amount in each tier times its share in parts of 10,000; rounded up."""
    total, below = 0, 0
    for bound, share in tiers:
        top = amount if bound is None else min(amount, bound * unit)
        total += max(top - below, 0) * (share or 0)
        below = max(below, top)
    return -(-total // 10_000)
