"""How many units of a pool one replica of a model takes, by the memory rule."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import astuple, replace

from policygen.core.finding import At, Hit
from policygen.core.quantity import GIBIBYTE
from policygen.core.quoting import quoted
from policygen.core.rule import Rule
from policygen.hardware import models, sizing
from policygen.hardware.catalog import MigProfile
from policygen.plan.amounts import CPU, MEMORY, text
from policygen.plan.pool import PoolFacts
from policygen.plan.rules import (
    ASSUMPTION,
    GPU_MEMORY_BELOW_CONCURRENCY,
    GPU_MEMORY_BELOW_WEIGHTS,
    MODEL_SIZE_UNKNOWN,
    SHARED_MEMORY_EXCEEDED,
    UNKNOWN_MODEL_SIZE,
)
from policygen.spec.types import WHOLE, Model, NodeResources, Sharing


class Offer(Struct, frozen=True, eq=False):
    """All of a pool that decides whether a replica fits; like pools share one."""

    node: NodeResources
    cards: int
    """Of a node."""
    card_bytes: int | None
    """Usable memory of one; None: not known."""
    sharing: Sharing
    replicas: int
    """Of one shared card."""
    resources: tuple[str, ...]
    profiles: tuple[str, ...]
    units: int
    """Of a resource, at most, on a node."""
    cut: tuple[MigProfile, ...]


def offers(pools: Iterable[PoolFacts]) -> dict[str, Offer]:
    """What each pool offers, by its name: the very same where pools are alike."""
    known: dict[tuple[object, ...], Offer] = {}
    found: dict[str, Offer] = {}
    for facts in pools:
        gpu = facts.pool.gpu
        offer = Offer(
            node=facts.node,
            cards=facts.per_node,
            card_bytes=facts.memory_bytes,
            sharing=gpu.sharing,
            replicas=gpu.replicas,
            resources=facts.resources,
            profiles=facts.profiles,
            units=facts.units_per_node,
            cut=facts.cut,
        )
        found[facts.name] = known.setdefault(astuple(offer), offer)
    return found


class Size(Struct, frozen=True):
    """What one replica takes."""

    resource: str
    units: int
    crowded_by: int | None = None
    """Bytes that it needs, where as many of it as share a card do not fit there."""


class Replica:
    """One replica of a model, or one pod of its gang: what it needs, and its size on each pool."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.workload = _workload(model)
        self._sizes: dict[Offer, Size | None] = {}

    def size(self, offer: Offer) -> Size | None:
        """Units of the pool's resource; None where no node holds it."""
        if offer not in self._sizes:
            self._sizes[offer] = _size(self, offer)
        return self._sizes[offer]


def warn(rule: Rule, message: str, model: Model, field: str | None = None) -> Hit:
    """A warning about a model, at its name or at a field of its spec."""
    at = model.field(field) if field else model.at / "metadata" / "name"
    return Hit(rule, message, at)


def _workload(model: Model) -> sizing.Workload | None:
    """The memory rule's input; None where neither memory nor a known size is stated."""
    facts = models.model(model.family, model.size)
    if model.gpu_memory_bytes is None and facts is None:
        return None
    said = model.sizing
    concurrency = said.concurrency
    if concurrency is None and model.autoscaling is not None:
        concurrency = model.autoscaling.target_concurrency
    workload = sizing.Workload(
        gpu_memory_bytes=model.gpu_memory_bytes, facts=facts, any_count=said.any_gpu_count
    )
    stated: dict[str, Any] = {
        "precision": said.precision,
        "kv_precision": said.kv_cache_precision,
        "concurrency": concurrency,
        "context_length": said.context_length,
        "runtime_memory_bytes": said.runtime_memory_bytes,
        "utilisation": said.gpu_memory_utilization,
    }
    return replace(workload, **{name: it for name, it in stated.items() if it is not None})


def check(replica: Replica) -> Iterator[Hit]:
    """Whether the stated GPU memory holds what family, size and concurrency ask for."""
    model, workload = replica.model, replica.workload
    if model.size is not None and models.model(model.family, model.size) is None:
        yield Hit(
            UNKNOWN_MODEL_SIZE,
            f"size {quoted(model.size)} is no number of parameters, so nothing is known of the "
            "model's memory; write it as in 7b, 1.5b or 8x7b",
            model.field("size"),
        )
    elif workload is None and model.gpus is None:
        yield warn(
            MODEL_SIZE_UNKNOWN,
            f'nothing says how much GPU memory model "{model.name}" needs; write '
            "resources.gpuMemory, resources.gpus, or a family and size from docs/hardware.md",
            model,
        )
    if workload is None or model.gpus is not None or workload.facts is None:
        return
    if model.gpu_memory_bytes is None:
        words = "; ".join(sizing.assumptions(workload))
        if words:
            yield Hit(
                ASSUMPTION,
                f'the size of model "{model.name}" assumes: {words}; say otherwise under sizing',
                model.field("family"),
            )
        return
    weights = sizing.weights_bytes(workload) or 0
    cache = sizing.kv_bytes(workload) or 0
    if weights > model.gpu_memory_bytes:
        yield warn(
            GPU_MEMORY_BELOW_WEIGHTS,
            f'model "{model.name}" states {gib(model.gpu_memory_bytes)} of GPU memory, and its '
            f"weights alone take {gib(weights)} in {workload.precision}; raise gpuMemory",
            model,
            "resources",
        )
    elif weights + cache > model.gpu_memory_bytes:
        plural = "s" if workload.concurrency > 1 else ""
        yield warn(
            GPU_MEMORY_BELOW_CONCURRENCY,
            f'model "{model.name}" states {gib(model.gpu_memory_bytes)} of GPU memory; '
            f"weights take {gib(weights)} in {workload.precision} and the KV cache of "
            f"{workload.concurrency} request{plural} of {workload.context_length} tokens "
            f"{gib(cache)}; raise gpuMemory or lower the concurrency",
            model,
            "resources",
        )


def gib(size: int) -> str:
    """Bytes, for people."""
    return f"{size / GIBIBYTE:.1f} GiB"


def crowding(
    replica: Replica, pools: Iterable[PoolFacts], offers: Mapping[str, Offer]
) -> Iterator[Hit]:
    """The pools where as many replicas as share a card need more memory than it has."""
    for facts in pools:
        offer = offers[facts.name]
        size = replica.size(offer)
        if size is None or size.crowded_by is None or offer.card_bytes is None:
            continue
        yield warn(
            SHARED_MEMORY_EXCEEDED,
            f'a replica of model "{replica.model.name}" needs {gib(size.crowded_by)}, and pool '
            f'"{facts.name}" puts {offer.replicas} on a card of {gib(offer.card_bytes)} with '
            "nothing that keeps them apart; lower gpu.replicas or use MIG",
            replica.model,
            "resources",
        )


def _size(replica: Replica, offer: Offer) -> Size | None:
    model, workload = replica.model, replica.workload
    if _above(model, offer):
        return None
    if model.gpus is not None:
        counted = len(offer.resources) == 1 and model.gpus <= offer.units
        return Size(offer.resources[0], model.gpus) if counted else None
    if workload is None:
        return None
    if offer.sharing == "mig":
        return _instance(workload, offer)
    if offer.card_bytes is None:
        return None
    if offer.replicas > 1:
        return _shared(workload, offer, offer.card_bytes)
    count = sizing.devices(workload, offer.card_bytes)
    return Size(offer.resources[0], count) if count is not None and count <= offer.cards else None


def _above(model: Model, offer: Offer) -> list[tuple[str, int, int]]:
    """Of what a replica asks more than a node has: cpu or memory, how much, and what there is."""
    asked = (
        (CPU, model.cpu_milli, offer.node.cpu_milli),
        (MEMORY, model.memory_bytes, offer.node.memory_bytes),
    )
    return [(name, amount, has) for name, amount, has in asked if amount and amount > has]


def _instance(workload: sizing.Workload, offer: Offer) -> Size | None:
    """The smallest of the pool's MIG instances that holds it."""
    need = sizing.needed_bytes(workload)
    cut = {profile.name: profile for profile in offer.cut}
    chosen = sizing.mig_fit(need, cut) if need is not None else None
    if chosen is None:
        return None
    place = 0 if offer.profiles == (WHOLE,) else offer.profiles.index(chosen.name)
    return Size(offer.resources[place], 1)


def _shared(workload: sizing.Workload, offer: Offer, card: int) -> Size | None:
    """A part of a shared card. Each sees all its memory; only the sum of all can be wrong."""
    need = sizing.needed_bytes(workload)
    if need is None or need > card:
        return None
    if need <= sizing.shared_replica_bytes(card, offer.replicas):
        return Size(offer.resources[0], 1)
    # MPS gives each no more than its share.
    return None if offer.sharing == "mps" else Size(offer.resources[0], 1, crowded_by=need)


def misfit(replica: Replica, offer: Offer) -> tuple[At, str]:
    """Why a replica fits no node of a pool: the place that decides it, and in words."""
    model, workload = replica.model, replica.workload
    resources = model.field("resources")
    for name, asked, has in _above(model, offer):
        return resources / name, f"it asks {text(name, asked)} {name}, a node has {text(name, has)}"
    if model.gpus is not None:
        if len(offer.resources) > 1:
            kinds = ", ".join(offer.profiles)
            return resources / "gpus", f"gpus counts one resource, and it has {kinds}"
        return resources / "gpus", f"it asks {model.gpus} GPUs, a node has {offer.units}"
    need = sizing.needed_bytes(workload) if workload is not None else None
    if workload is None or need is None:
        return model.at / "metadata" / "name", "its GPU memory is not known"
    at = resources / "gpuMemory"
    if model.gpu_memory_bytes is None:
        at = model.field("family" if model.size is None else "size")
    if offer.sharing == "mig":
        return at, f"it needs {gib(need)}, more than any of the pool's MIG instances"
    if offer.card_bytes is None:
        return at, "the memory of the pool's GPUs is not known; write gpu.memory"
    if offer.replicas > 1:
        return at, f"it needs {gib(need)}, more than a share of {gib(offer.card_bytes)}"
    return at, f"it needs {gib(need)}, a node has {offer.cards} x {gib(offer.card_bytes)}"
