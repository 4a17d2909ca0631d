"""How many units of a pool one replica of a model needs, by the memory rule."""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import astuple

from policygen.core.finding import At, Hit
from policygen.core.quantity import MEBIBYTE
from policygen.core.quoting import counted, listed
from policygen.core.rule import Rule
from policygen.hardware import sizing
from policygen.hardware.catalog import MigProfile
from policygen.plan import demand, rules
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

    @property
    def pod_units(self) -> int:
        """The most units of one resource that a pod can use.

        With MPS, the device plugin refuses a pod with several: failRequestsGreaterThanOne is true if it is not set
        (api/config/v1/config.go of NVIDIA/k8s-device-plugin 0.20; earlier releases have no such setting).
        """
        return 1 if self.sharing == "mps" else self.units


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


def misread(offer: Offer) -> bool:
    """Whether the memory of a node or card is below 1Mi: its unit is missing, which has a finding."""
    return min(offer.node.memory_bytes, offer.card_bytes or MEBIBYTE) < MEBIBYTE


class Size(Struct, frozen=True):
    """The units that one replica needs."""

    resource: str
    units: int
    crowded_by: int | None = None
    """Bytes that one replica needs, if as many as share a card do not fit on it together."""


Sizes = dict[tuple[object, ...], dict[Offer, Size | None]]
"""The sizes of replicas by what they need, so that they are computed once for equal needs."""


class Misfit(Struct, frozen=True):
    """Why a replica fits no node of a pool."""

    at: At
    """The field that decides it."""
    reason: str
    excess: Fraction
    """Its need as a multiple of what a node has; 0 if unknown."""
    remedy: str = ""
    """What to write so that it fits the pool; empty if only a smaller model or a larger node helps."""


class Replica:
    """One replica of a model, or one pod of its gang: what it needs, and its size on each pool."""

    def __init__(self, model: Model, known: Sizes) -> None:
        self.model = model
        self.workload = demand.demand(model)
        needs = self.workload, model.gpus, model.cpu_milli, model.memory_bytes
        self._sizes = known.setdefault(needs, {})

    @property
    def known(self) -> bool:
        """Whether its need of GPUs is known."""
        return self.workload is not None or self.model.gpus is not None

    def size(self, offer: Offer) -> Size | None:
        """Units of the pool's resource, or None if no node can hold the replica."""
        if offer not in self._sizes:
            self._sizes[offer] = _size(self, offer)
        return self._sizes[offer]


class Memory(Struct, frozen=True):
    """GPU memory of one replica, in bytes; None if unknown."""

    taken: int | None
    """Of the units that it takes. A replica on a shared card takes its share."""
    needed: int | None

    @property
    def rank(self) -> tuple[int, int]:
        """Lower is better: the least unused memory, then unknown, then too little memory."""
        if self.taken is None:
            return 1, 0
        if self.needed is None:
            return 0, self.taken
        unused = self.taken - self.needed
        return (0, unused) if unused >= 0 else (2, -unused)


def memory(replica: Replica, offer: Offer, size: Size) -> Memory:
    """The GPU memory that one replica takes on a pool, and what it needs there."""
    devices = size.units if offer.sharing == "none" else 1
    needed = None
    if replica.workload is not None:
        needed = sizing.needed_bytes(replica.workload, devices)
    taken = None
    if offer.sharing == "mig":
        profile = offer.profiles[offer.resources.index(size.resource)]
        cut = [it for it in offer.cut if profile in (WHOLE, it.name)]
        taken = (cut[0].memory_mib << 20) * size.units if cut else None
    elif offer.card_bytes is not None:
        taken = size.units * sizing.shared_replica_bytes(offer.card_bytes, offer.replicas)
    return Memory(taken, needed)


def warn(rule: Rule, message: str, model: Model, field: str | None = None) -> Hit:
    """A warning about a model, at its name or at a field of its spec."""
    at = model.field(field) if field else model.at / "metadata" / "name"
    return Hit(rule, message, at)


def crowding(
    replica: Replica, pools: Iterable[PoolFacts], offers: Mapping[str, Offer]
) -> Iterator[Hit]:
    """Warnings for the pools where the replicas that share a card need more memory than it has."""
    for facts in pools:
        offer = offers[facts.name]
        size = replica.size(offer)
        if size is None or size.crowded_by is None or offer.card_bytes is None:
            continue
        count = offer.card_bytes // size.crowded_by
        remedy = f"lower gpu.replicas to {count}" if count > 1 else "share no GPU of the pool"
        need = readable_bytes(size.crowded_by, offer.card_bytes)
        has = readable_bytes(offer.card_bytes, size.crowded_by)
        yield warn(
            rules.SHARED_MEMORY_EXCEEDED,
            f'one replica of model "{replica.model.name}" needs {need}, but pool "{facts.name}" lets '
            f"{offer.replicas} pods share a GPU of {has}, without memory limits; "
            f"place the model on another pool, make it smaller, or {remedy}",
            replica.model,
            "resources",
        )


def _size(replica: Replica, offer: Offer) -> Size | None:
    return None if above_node(replica.model, offer) else _size_by_gpus(replica, offer)


def _size_by_gpus(replica: Replica, offer: Offer) -> Size | None:
    """The units that a replica needs, whatever cpu and memory it requests; None if no node has them."""
    model, workload = replica.model, replica.workload
    if model.gpus is not None:
        counted = len(offer.resources) == 1 and model.gpus <= offer.pod_units
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


def above_node(model: Model, offer: Offer) -> list[tuple[str, int, int]]:
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


def misfit(replica: Replica, offer: Offer) -> Misfit:
    """Why a replica fits no node of a pool; of several reasons, the one that it exceeds most."""
    resources = replica.model.field("resources")
    found = []
    if above := above_node(replica.model, offer):
        needs = [amount_of(name, amount, has) for name, amount, has in above]
        node = [amount_of(name, has, amount) for name, amount, has in above]
        reason = f"a replica needs {listed(needs, 'and')}, but a node has {listed(node, 'and')}"
        at = resources / above[0][0] if len(above) == 1 else resources
        found.append(Misfit(at, reason, max(Fraction(amount, has) for _, amount, has in above)))
    if _size_by_gpus(replica, offer) is None:
        found.append(_misfit_by_gpus(replica, offer))
    return max(found, key=lambda it: it.excess)


def _misfit_by_gpus(replica: Replica, offer: Offer) -> Misfit:
    """Why a replica fits no node, whatever cpu and memory it requests."""
    model = replica.model
    resources = model.field("resources")
    if model.gpus is not None:
        if len(offer.resources) > 1:
            kinds = ", ".join(offer.profiles)
            reason = f"gpus does not name a MIG profile, but the pool has several ({kinds})"
            return Misfit(
                resources / "gpus", reason, Fraction(0), "write gpuMemory instead of gpus"
            )
        if model.gpus <= offer.units:
            return Misfit(
                resources / "gpus",
                f"a replica needs {counted(model.gpus, 'GPU')}, but a pod gets only one part of a GPU that MPS shares",
                Fraction(model.gpus),
                "write gpus: 1",
            )
        return Misfit(
            resources / "gpus",
            f"a replica needs {counted(model.gpus, 'GPU')}, but a node has {offer.units}",
            Fraction(model.gpus, offer.units),
        )
    return _memory_misfit(replica, offer)


def concurrency_at(model: Model, workload: sizing.MemoryDemand) -> At | None:
    """The field with the number of requests, if their KV cache needs most of the memory."""
    cache, need = sizing.kv_bytes(workload), sizing.needed_bytes(workload)
    if cache is None or need is None or 2 * cache <= need:
        return None
    if model.sizing.concurrency is not None:
        return model.field("sizing") / "concurrency"
    if model.autoscaling is not None and model.autoscaling.target_concurrency is not None:
        return model.field("autoscaling") / "targetConcurrency"
    return None


def _memory_misfit(replica: Replica, offer: Offer) -> Misfit:
    """Why the GPUs of a node do not have enough memory for a replica."""
    model, workload = replica.model, replica.workload
    devices = 1 if offer.sharing == "mig" or offer.replicas > 1 else offer.cards
    need = sizing.needed_bytes(workload, devices) if workload is not None else None
    if workload is None or need is None:
        reason = "the GPU memory that the model needs is unknown"
        return Misfit(model.at / "metadata" / "name", reason, Fraction(0))
    at = model.field("resources") / "gpuMemory"
    if model.gpu_memory_bytes is None:
        at = concurrency_at(model, workload) or model.field(
            "family" if model.size is None else "size"
        )
    who = "a pod" if model.gang is not None else "a replica"
    computed = demand.parts(workload)
    because = f": {computed}" if computed else ""
    if offer.sharing == "mig":
        largest = max((profile.memory_mib << 20 for profile in offer.cut), default=0)
        more = f"{readable_bytes(need - largest)} more" if largest else "more"
        reason = f"{who} needs {readable_bytes(need)}, {more} than any MIG instance of the pool has{because}"
        return Misfit(at, reason, Fraction(need, largest) if largest else Fraction(0))
    if offer.card_bytes is None:
        reason = "the memory of the pool's GPUs is unknown"
        return Misfit(at, reason, Fraction(0), "write gpu.memory in the pool")
    has = offer.card_bytes if offer.replicas > 1 else offer.card_bytes * offer.cards
    if offer.replicas == 1 and need <= has:
        count = sizing.devices(workload, offer.card_bytes) or offer.cards + 1
        reason = (
            f"a node has {offer.cards} GPUs, but {who} needs {count}, because tensor parallelism "
            "needs a power of two"
        )
        return Misfit(at, reason, Fraction(count, offer.cards), "write sizing.anyGpuCount: true")
    where = f"a node has {offer.cards} ×"
    if offer.replicas > 1:
        where = f"{offer.replicas} pods share each GPU of"
        if need <= has:  # MPS limits each pod to its share
            has = sizing.shared_replica_bytes(has, offer.replicas)
    offered = f"{where} {readable_bytes(offer.card_bytes, need)}"
    needs = f"{who} needs {readable_bytes(need, offer.card_bytes)}"
    few = f"{readable_bytes(need - has)} too few"
    reason = f"{offered}, but {needs}{because}" if computed else f"{needs}, but {offered}, {few}"
    return Misfit(at, reason, Fraction(need, has))
