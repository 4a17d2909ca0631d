"""A pool with everything decided that its arithmetic needs: units, what is available, cpu and memory."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from policygen.finding import Hit, Severity
from policygen.hardware import catalog
from policygen.hardware.catalog import MigProfile, Product
from policygen.plan.amounts import CPU, MEBIBYTE, MEMORY, Vector
from policygen.spec.echo import quoted
from policygen.spec.nearest import suggest
from policygen.spec.pools import SHARED_PER_GPU, scheduler_of
from policygen.spec.types import (
    WHOLE,
    Amounts,
    NodeResources,
    Platform,
    Pool,
    Spec,
)

GPU_RESOURCE = "nvidia.com/gpu"
NODE_GROUP_LABEL = "volcano.sh/nodegroup-name"

_PROFILE = re.compile(r"(?P<slices>[1-7])g\.[0-9]{1,4}gb([+-][a-z]+(\.[a-z]+)?)?")


class Policy(Struct, frozen=True):
    """A pool's scheduling policy with every default applied."""

    bin_pack: bool
    spread: bool
    overcommit_ratio: Fraction | None
    topology_aware: bool
    gang_scheduling: bool
    preemption_enabled: bool


@dataclass(frozen=True, eq=False)
class PoolFacts:
    """What the plan knows of one pool."""

    pool: Pool
    scheduler: str
    policy: Policy
    queue: str
    """Name of its queue: its own, or that of the shared queue it stands in."""
    resources: tuple[str, ...]
    """Extended resources that its nodes offer, one for each MIG profile in a mixed pool."""
    profiles: tuple[str, ...]
    """The MIG profile behind each resource, or WHOLE."""
    available: Vector
    """Of cpu, memory and each resource, what teams can have together."""
    slices: Vector
    """How much cpu and memory a unit of each resource stands for, relative to the others."""
    units_per_node: int
    """At most; bounds the step of a packing score."""
    per_node: int
    node: NodeResources | None
    """Allocatable cpu and memory of a node."""
    memory_bytes: int | None
    """Usable memory of one card."""
    product: Product | None
    mig: Mapping[str, MigProfile]

    @property
    def name(self) -> str:
        """The pool's name."""
        return self.pool.name

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The resources of every queue over this pool, in the order in which they are written."""
        return tuple(self.available)

    @cached_property
    def _weight(self) -> int:
        return sum(self.available[resource] * self.slices[resource] for resource in self.resources)

    def vector(
        self, units: Mapping[str, int], cpu: int | None = None, memory: int | None = None
    ) -> dict[str, int]:
        """Units with the cpu and memory that come along in proportion, floored to 1m and 1Mi."""
        weight = sum(units[resource] * self.slices[resource] for resource in self.resources)
        whole = self._weight
        if cpu is None:
            cpu = self.available[CPU] * weight // whole
        if memory is None:
            memory = self.available[MEMORY] // MEBIBYTE * weight // whole * MEBIBYTE
        return {CPU: cpu, MEMORY: memory, **{name: units[name] for name in self.resources}}

    def units(self, amounts: Amounts) -> dict[str, int]:
        """Amounts as the spec counts them (by profile, or whole) by resource, as far as given."""
        resource_of = dict(zip(self.profiles, self.resources, strict=True))
        return {resource_of[profile]: count for profile, count in amounts if profile in resource_of}

    @property
    def node_group(self) -> str | None:
        """Value of Volcano's node group label in the nodeSelector."""
        return dict(self.pool.node_selector).get(NODE_GROUP_LABEL)


def resolve(spec: Spec) -> tuple[dict[str, PoolFacts], list[Hit]]:
    """Facts of every pool that can be decided, by name, and what was assumed or is wrong."""
    queue_of = {pool: queue.name for queue in spec.platform.shared_queues for pool in queue.pools}
    facts: dict[str, PoolFacts] = {}
    hits: list[Hit] = []
    for pool in spec.pools:
        found: list[Hit] = []
        resolved = _resolve(pool, spec.platform, queue_of.get(pool.name, pool.name), found)
        hits += found
        if resolved is not None:
            facts[pool.name] = resolved
    hits += _neighbours(list(facts.values()))
    return facts, hits


def policy(pool: Pool, platform: Platform) -> Policy:
    """A pool's own words win over the Platform's, and those over the defaults."""
    own, wider = pool.scheduling_policy, platform.scheduling_policy
    if own.bin_pack or own.spread:
        # One of the two said here settles the other, whatever the Platform says of it.
        own = replace(own, bin_pack=bool(own.bin_pack), spread=bool(own.spread))

    def said(name: str, default: object) -> object:
        for place in (own, wider):
            value = getattr(place, name)
            if value is not None:
                return value
        return default

    spread = bool(said("spread", default=False))
    return Policy(
        bin_pack=bool(said("bin_pack", default=not spread)) and not spread,
        spread=spread,
        overcommit_ratio=own.overcommit_ratio,
        topology_aware=bool(said("topology_aware", default=False)),
        gang_scheduling=bool(said("gang_scheduling", default=True)),
        preemption_enabled=bool(said("preemption_enabled", default=True)),
    )


def _resolve(pool: Pool, platform: Platform, queue: str, hits: list[Hit]) -> PoolFacts | None:
    product = _product(pool, hits)
    if product is None and pool.guess_product:
        hits.append(_unguessed(pool))
        return None
    memory = pool.gpu.memory_bytes
    if memory is None and product is not None:
        memory = product.memory_mib * MEBIBYTE
    cards = _cards(pool, product, hits)
    node = _node(pool, product, hits)
    if cards is None or node is None:
        return None
    available_cards, per_node = cards
    mig = catalog.mig_profiles(product) if product else {}
    sizes = _sizes(pool, available_cards, per_node, mig, hits)
    if sizes is None:
        return None
    resources, profiles, units, slices, units_per_node = sizes
    # Cores and bytes of the nodes behind the available cards.
    cpu = node.cpu_milli * available_cards // per_node
    mebibytes = node.memory_bytes * available_cards // per_node // MEBIBYTE
    return PoolFacts(
        pool=pool,
        scheduler=scheduler_of(pool, platform),
        policy=policy(pool, platform),
        queue=queue,
        resources=resources,
        profiles=profiles,
        available={CPU: cpu, MEMORY: mebibytes * MEBIBYTE, **units},
        slices=slices,
        units_per_node=units_per_node,
        per_node=per_node,
        node=node,
        memory_bytes=memory,
        product=product,
        mig=mig,
    )


def _assume(pool: Pool, message: str, field: str) -> Hit:
    """A note on something taken for granted, with the field that would say it."""
    advice = f"write {field}"
    if pool.guess_product:
        advice = f"{field} of a policygen.dev ResourcePool would say"
    return Hit(
        "assumption",
        f'pool "{pool.name}": {message}; {advice}',
        pool.at / "metadata" / "name",
        Severity.INFO,
    )


def _product(pool: Pool, hits: list[Hit]) -> Product | None:
    name = pool.gpu.product
    if name is not None:
        match = catalog.product(name)
        if match is None:
            known = [label for product in catalog.products().values() for label in product.labels]
            hits.append(
                Hit(
                    "unknown-product",
                    f"GPU product {quoted(name)} is not in the data; {suggest(name, known)} "
                    "(its memory and node shape are taken from the spec alone)",
                    pool.at / "spec" / "gpu" / "product",
                    Severity.WARNING,
                )
            )
            return None
    elif pool.guess_product:
        matches = [catalog.product(value) for _, value in pool.node_selector]
        match = next((found for found in matches if found), None)
        if match is None:
            return None
    else:
        return None
    if match.assumed or pool.guess_product:
        hits.append(
            _assume(
                pool,
                f"its GPUs are read as {match.product.id}"
                + (", the name fits several cards" if match.assumed else ""),
                "gpu.product",
            )
        )
    return match.product


def _unguessed(pool: Pool) -> Hit:
    """The articles' form has no other field that says what its nodes are."""
    labels = pool.node_selector
    at = pool.at / "spec" / "nodeSelector"
    advice = "write a known one, such as a10g or a100"
    if len(labels) == 1:
        at /= labels[0][0]
        advice = suggest(labels[0][1], catalog.product_names())
    return Hit(
        "unknown-product",
        f'no label of pool "{pool.name}" names a GPU product that is known; {advice} (or write '
        "it as a ResourcePool of policygen.dev, with gpu.perNode and capacity.nodeAllocatable)",
        at if len(labels) == 1 else at.on_key(),
    )


def _cards(pool: Pool, product: Product | None, hits: list[Hit]) -> tuple[int, int] | None:
    """Available physical GPUs, and how many a node has."""
    capacity = pool.capacity
    shape = catalog.shape(capacity.node_type) if capacity.node_type else None
    per_node = pool.gpu.per_node or (shape.gpus if shape else None)
    total = capacity.total_gpus
    if per_node is None and total and capacity.nodes and total % capacity.nodes == 0:
        per_node = total // capacity.nodes
    if per_node is None and product is not None:
        per_node = product.per_node
        hits.append(_assume(pool, f"a node has {per_node} GPUs", "gpu.perNode"))
    if per_node is None:
        hits.append(
            Hit(
                "per-node-missing",
                f'nothing says how many GPUs a node of pool "{pool.name}" has; write gpu.perNode',
                (pool.at / "spec" / "gpu").on_key(),
            )
        )
        return None
    if total is None and capacity.nodes is not None:
        total = capacity.nodes * per_node
    available = capacity.available_gpus if capacity.available_gpus is not None else total
    if available is None:
        return None  # reported by spec.pools
    if total is not None and available > total:
        hits.append(
            Hit(
                "available-above-total",
                f"{available} GPUs are available, and {capacity.nodes} nodes of {per_node} have "
                f"only {total}; correct one of them, or write gpu.perNode",
                pool.at / "spec" / "capacity" / "availableGPUs",
            )
        )
        return None
    return available, per_node


def _node(pool: Pool, product: Product | None, hits: list[Hit]) -> NodeResources | None:
    """Allocatable cpu and memory of one node of the pool."""
    capacity = pool.capacity
    if capacity.node_allocatable is not None:
        return capacity.node_allocatable
    name, assumed = capacity.node_type, False
    if name is None and product is not None and product.shape is not None:
        name, assumed = product.shape, True
    if name is None:
        hits.append(
            Hit(
                "node-shape-missing",
                f'nothing says how much cpu and memory a node of pool "{pool.name}" has, and a '
                "queue that covers GPUs alone admits nothing; write capacity.nodeAllocatable "
                "{cpu, memory}, capacity.nodeType or gpu.product",
                (pool.at / "spec" / "capacity").on_key(),
            )
        )
        return None
    shape = catalog.shape(name)
    if shape is None:
        hits.append(
            Hit(
                "unknown-node-type",
                f"node type {quoted(name)} is not in the data; {suggest(name, catalog.shapes())} "
                "(or write capacity.nodeAllocatable {cpu, memory} instead)",
                pool.at / "spec" / "capacity" / "nodeType",
            )
        )
        return None
    per_node = pool.gpu.per_node
    if per_node is not None and shape.gpus != per_node:
        whose = f"the usual node of this product, {name}," if assumed else f"a {name}"
        advice = "write capacity.nodeAllocatable" if assumed else "correct one of them"
        hits.append(
            Hit(
                "per-node-contradicts-node-type",
                f"{whose} has {shape.gpus} GPUs, and gpu.perNode says {per_node}, so cpu and "
                f"memory are shared out wrongly; {advice}",
                pool.at / "spec" / "gpu" / "perNode",
                Severity.WARNING,
            )
        )
    if assumed:
        hits.append(_assume(pool, f"its nodes are read as {name}", "capacity.nodeAllocatable"))
    elif product is not None and shape.product != product.id:
        hits.append(
            Hit(
                "node-type-contradicts-product",
                f"{name} has {shape.product} GPUs, not {product.id}; correct one of them",
                pool.at / "spec" / "capacity" / "nodeType",
                Severity.WARNING,
            )
        )
    if capacity.system_reserved is not None:
        reserved = (capacity.system_reserved.cpu_milli, capacity.system_reserved.memory_bytes)
    else:
        reserved = catalog.system_reserved(shape.cpu_milli, shape.memory_bytes)
    left = NodeResources(shape.cpu_milli - reserved[0], shape.memory_bytes - reserved[1])
    if left.cpu_milli <= 0 or left.memory_bytes <= 0:
        hits.append(
            Hit(
                "reserved-above-capacity",
                f"systemReserved leaves nothing of a {name}; lower it",
                pool.at / "spec" / "capacity" / "systemReserved",
            )
        )
        return None
    return left


_Sizes = tuple[tuple[str, ...], tuple[str, ...], dict[str, int], dict[str, int], int]


def _sizes(
    pool: Pool, cards: int, per_node: int, mig: Mapping[str, MigProfile], hits: list[Hit]
) -> _Sizes | None:
    """Resources, their profiles, units available, slices a unit, and most units on a node."""
    gpu = pool.gpu
    resource = gpu.resource or GPU_RESOURCE
    if gpu.sharing != "mig":
        replicas = gpu.replicas if gpu.sharing in SHARED_PER_GPU else 1
        units = {resource: cards * replicas}
        return (resource,), (WHOLE,), units, {resource: 1}, per_node * replicas
    at = pool.at / "spec" / "gpu" / "mig" / "instances"
    domain = resource.partition("/")[0]
    names: dict[str, str] = {}
    slices: dict[str, int] = {}
    most = 0
    good = True
    for profile, count in gpu.instances:
        shape = _PROFILE.fullmatch(profile)
        if not shape or (mig and profile not in mig):
            good = False
            advice = suggest(profile, mig) if mig else "write it as in 1g.10gb"
            hits.append(
                Hit(
                    "unknown-mig-profile",
                    f"no MIG profile {quoted(profile)}; {advice}",
                    (at / profile).on_key(),
                )
            )
            continue
        facts = mig.get(profile)
        suffix = facts.resource_suffix if facts else f"mig-{profile.replace('+', '.')}"
        name = resource if gpu.mig_strategy == "single" else f"{domain}/{suffix}"
        names[name] = profile
        slices[name] = int(shape["slices"])
        per_card = facts.max_per_gpu if facts else 7 // int(shape["slices"])
        most = max(most, min(count, per_node * per_card))
        if count > cards * per_card:
            hits.append(
                Hit(
                    "mig-instances-exceed-cards",
                    f"{cards} cards can be cut into {cards * per_card} instances of {profile}, "
                    f"not {count}",
                    at / profile,
                    Severity.WARNING,
                )
            )
    if not good or not names:
        return None
    counts = dict(gpu.instances)
    ordered = sorted(names, key=lambda name: (slices[name], name))
    whole = cards * (7 if not mig else max(facts.compute_slices for facts in mig.values()))
    used = sum(counts[names[name]] * slices[name] for name in ordered)
    held = sum(mig[names[name]].memory_slices * counts[names[name]] for name in ordered if mig)
    room = cards * max((facts.memory_slices for facts in mig.values()), default=0)
    for need, have, what in ((used, whole, "compute"), (held, room, "memory")):
        if need > have:
            hits.append(
                Hit(
                    "mig-instances-exceed-cards",
                    f"the instances need {need} {what} slices, and {cards} cards have {have}",
                    at.on_key(),
                    Severity.WARNING,
                )
            )
    return (
        tuple(ordered),
        tuple(names[name] if gpu.mig_strategy == "mixed" else WHOLE for name in ordered),
        {name: counts[names[name]] for name in ordered},
        {name: slices[name] for name in ordered},
        most,
    )


def _neighbours(pools: list[PoolFacts]) -> Iterator[Hit]:
    """Volcano pools share one scheduler configuration, and quotas know a resource by name only."""
    volcano = [facts for facts in pools if facts.scheduler == "volcano"]
    owners: defaultdict[str, dict[str | None, PoolFacts]] = defaultdict(dict)
    for facts in volcano:
        at = (facts.pool.at / "spec" / "schedulingPolicy").on_key()
        first = volcano[0]
        if (facts.policy.bin_pack, facts.policy.spread) != (
            first.policy.bin_pack,
            first.policy.spread,
        ):
            yield Hit(
                "volcano-pack-and-spread",
                f'Volcano places all its pools alike, and pool "{first.name}" '
                f"{'packs' if first.policy.bin_pack else 'does not pack'}; "
                "give both the same binPack and spread",
                at,
            )
        for resource in facts.resources:
            # Apart are queues of different node groups only: one without any takes every node.
            group = facts.node_group or None
            others = owners[resource]
            near = others.get(None) or others.get(group)
            other = near if group else next(iter(others.values()), None)
            others.setdefault(group, facts)
            if other:
                yield Hit(
                    "volcano-resource-shared",
                    f'Volcano pool "{other.name}" has {resource} too, and a queue cannot tell '
                    f"their nodes apart; put {NODE_GROUP_LABEL} into both nodeSelectors, with "
                    "different values",
                    (facts.pool.at / "spec" / "nodeSelector").on_key(),
                )
