"""How many units of a pool one replica of a model needs, by the memory rule."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import astuple, replace

from policygen.core.finding import At, Hit
from policygen.core.quoting import counted, quoted
from policygen.core.rule import Rule
from policygen.hardware import models, sizing
from policygen.hardware.catalog import MigProfile
from policygen.plan import rules
from policygen.plan.amounts import CPU, MEMORY, amount_of, readable_bytes
from policygen.plan.pool import PoolFacts
from policygen.spec.types import WHOLE, Model, NodeResources, Sharing


class Offer(Struct, frozen=True, eq=False):
    """The facts of a pool that decide whether a replica fits. Equal pools share one offer."""

    node: NodeResources
    cards: int
    """GPUs of a node."""
    card_bytes: int | None
    """Usable memory of one card; None if unknown."""
    sharing: Sharing
    replicas: int
    """Replicas of one shared card."""
    resources: tuple[str, ...]
    profiles: tuple[str, ...]
    units: int
    """The most units of one resource on a node."""
    cut: tuple[MigProfile, ...]


def offers(pools: Iterable[PoolFacts]) -> dict[str, Offer]:
    """The offer of each pool, by its name. Equal pools share one object."""
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
    """The units that one replica needs."""

    resource: str
    units: int
    crowded_by: int | None = None
    """Bytes that one replica needs, if as many as share a card do not fit on it together."""


class Replica:
    """One replica of a model, or one pod of its gang: what it needs, and its size on each pool."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.workload = _workload(model)
        self._sizes: dict[Offer, Size | None] = {}

    def size(self, offer: Offer) -> Size | None:
        """Units of the pool's resource, or None if no node can hold the replica."""
        if offer not in self._sizes:
            self._sizes[offer] = _size(self, offer)
        return self._sizes[offer]


def warn(rule: Rule, message: str, model: Model, field: str | None = None) -> Hit:
    """A warning about a model, at its name or at a field of its spec."""
    at = model.field(field) if field else model.at / "metadata" / "name"
    return Hit(rule, message, at)


def _workload(model: Model) -> sizing.MemoryDemand | None:
    """The input of the memory rule, or None if neither memory nor a known size is written."""
    facts = models.model(model.family, model.size)
    if model.gpu_memory_bytes is None and facts is None:
        return None
    sizes = model.sizing
    concurrency = sizes.concurrency
    if concurrency is None and model.autoscaling is not None:
        concurrency = model.autoscaling.target_concurrency
    workload = sizing.MemoryDemand(
        gpu_memory_bytes=model.gpu_memory_bytes, facts=facts, any_count=sizes.any_gpu_count
    )
    stated: dict[str, Any] = {
        "precision": sizes.precision,
        "kv_precision": sizes.kv_cache_precision,
        "concurrency": concurrency,
        "context_length": sizes.context_length,
        "runtime_memory_bytes": sizes.runtime_memory_bytes,
        "utilisation": sizes.gpu_memory_utilization,
    }
    return replace(workload, **{name: it for name, it in stated.items() if it is not None})


def check(replica: Replica) -> Iterator[Hit]:
    """Whether gpuMemory is enough for the family, size and concurrency of a model."""
    model, workload = replica.model, replica.workload
    if model.size is not None and models.model(model.family, model.size) is None:
        yield Hit(
            rules.UNKNOWN_MODEL_SIZE,
            f"size {quoted(model.size)} is not a number of parameters, so the memory of the model "
            "is unknown; write the size as in 7b, 1.5b or 8x7b",
            model.field("size"),
        )
    elif workload is None and model.gpus is None:
        yield warn(
            rules.MODEL_SIZE_UNKNOWN,
            f'the GPU memory that model "{model.name}" needs is unknown; write '
            "resources.gpuMemory, resources.gpus, or a family and size from docs/hardware.md",
            model,
        )
    if workload is None or model.gpus is not None or workload.facts is None:
        return
    if model.gpu_memory_bytes is None:
        assumed = ", ".join(sizing.assumptions(workload))
        if assumed:
            yield Hit(
                rules.ASSUMPTION,
                f'the GPU memory of model "{model.name}" is calculated with assumed values: '
                f"{assumed}; write other values under sizing",
                model.field("family"),
            )
        return
    weights = sizing.weights_bytes(workload) or 0
    cache = sizing.kv_bytes(workload) or 0
    if weights > model.gpu_memory_bytes:
        yield warn(
            rules.GPU_MEMORY_BELOW_WEIGHTS,
            f'model "{model.name}" has gpuMemory {readable_bytes(model.gpu_memory_bytes, weights)}, but its weights '
            f"alone need {readable_bytes(weights, model.gpu_memory_bytes)} in {workload.precision}; raise gpuMemory",
            model,
            "resources",
        )
    elif weights + cache > model.gpu_memory_bytes:
        yield warn(
            rules.GPU_MEMORY_BELOW_CONCURRENCY,
            f'model "{model.name}" has gpuMemory {readable_bytes(model.gpu_memory_bytes)}, but its weights '
            f"need {readable_bytes(weights)} in {workload.precision}, and its KV cache needs {readable_bytes(cache)} "
            f"for {counted(workload.concurrency, 'request')} of {workload.context_length} tokens; "
            "raise gpuMemory, or lower the concurrency",
            model,
            "resources",
        )


def crowding(
    replica: Replica, pools: Iterable[PoolFacts], offers: Mapping[str, Offer]
) -> Iterator[Hit]:
    """Warnings for the pools where the replicas that share a card need more memory than it has."""
    for facts in pools:
        offer = offers[facts.name]
        size = replica.size(offer)
        if size is None or size.crowded_by is None or offer.card_bytes is None:
            continue
        need = readable_bytes(size.crowded_by, offer.card_bytes)
        has = readable_bytes(offer.card_bytes, size.crowded_by)
        yield warn(
            rules.SHARED_MEMORY_EXCEEDED,
            f'one replica of model "{replica.model.name}" needs {need}, but pool "{facts.name}" lets '
            f"{offer.replicas} pods share a GPU of {has}, without memory limits; lower "
            "gpu.replicas, or use MIG",
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
    """The resources (cpu, memory) of which a replica requests more than a node has: name, request, node."""
    requested = (
        (CPU, model.cpu_milli, offer.node.cpu_milli),
        (MEMORY, model.memory_bytes, offer.node.memory_bytes),
    )
    return [(name, amount, has) for name, amount, has in requested if amount and amount > has]


def _instance(workload: sizing.MemoryDemand, offer: Offer) -> Size | None:
    """The smallest of the pool's MIG instances that holds the workload."""
    need = sizing.needed_bytes(workload)
    cut = {profile.name: profile for profile in offer.cut}
    chosen = sizing.mig_fit(need, cut) if need is not None else None
    if chosen is None:
        return None
    place = 0 if offer.profiles == (WHOLE,) else offer.profiles.index(chosen.name)
    return Size(offer.resources[place], 1)


def _shared(workload: sizing.MemoryDemand, offer: Offer, card: int) -> Size | None:
    """A part of a shared card. Each replica sees all of its memory; only their sum can be too large."""
    need = sizing.needed_bytes(workload)
    if need is None or need > card:
        return None
    if need <= sizing.shared_replica_bytes(card, offer.replicas):
        return Size(offer.resources[0], 1)
    # MPS limits each replica to its share.
    return None if offer.sharing == "mps" else Size(offer.resources[0], 1, crowded_by=need)


def misfit(replica: Replica, offer: Offer) -> tuple[At, str]:
    """Why a replica fits no node of a pool: the field that decides it, and the reason as text."""
    model, workload = replica.model, replica.workload
    resources = model.field("resources")
    for name, amount, has in _above(model, offer):
        return (
            resources / name,
            (
                f"a replica needs {amount_of(name, amount, has)}, but a node has "
                f"{amount_of(name, has, amount)}"
            ),
        )
    if model.gpus is not None:
        if len(offer.resources) > 1:
            kinds = ", ".join(offer.profiles)
            return resources / "gpus", (
                f"gpus does not name a MIG profile, but the pool has several ({kinds}), so write "
                "gpuMemory instead of gpus"
            )
        return (
            resources / "gpus",
            f"a replica needs {counted(model.gpus, 'GPU')}, but a node has {offer.units}",
        )
    need = sizing.needed_bytes(workload) if workload is not None else None
    if workload is None or need is None:
        return model.at / "metadata" / "name", "the GPU memory that the model needs is unknown"
    at = resources / "gpuMemory"
    if model.gpu_memory_bytes is None:
        at = model.field("family" if model.size is None else "size")
    if offer.sharing == "mig":
        return (
            at,
            f"a replica needs {readable_bytes(need)}, more than any MIG instance of the pool has",
        )
    if offer.card_bytes is None:
        return at, "the memory of the pool's GPUs is unknown, so write gpu.memory in the pool"
    if offer.replicas > 1:
        where = f"{offer.replicas} pods share each GPU of"
    else:
        where = f"a node has {offer.cards} ×"
    return at, (
        f"a replica needs {readable_bytes(need, offer.card_bytes)}, but {where} "
        f"{readable_bytes(offer.card_bytes, need)}"
    )
