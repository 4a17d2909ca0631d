"""A pool and the facts that the plan calculates with: units, available amounts, cpu and memory."""

from collections.abc import Mapping
from functools import cached_property

from msgspec import Struct

from policygen.core.finding import Hit
from policygen.core.names import NODE_GROUP
from policygen.core.quantity import MEBIBYTE
from policygen.hardware.catalog import MigProfile, Product
from policygen.plan import nodes
from policygen.plan.amounts import CPU, MEMORY, Vector
from policygen.plan.policy import Policy, policy
from policygen.plan.units import Cards, units
from policygen.spec.pools import scheduler_of
from policygen.spec.types import Amounts, NodeResources, Platform, Pool, Scheduler, Spec


class PoolFacts(Struct, frozen=True, eq=False, dict=True):
    """The facts of one pool."""

    pool: Pool
    scheduler: Scheduler
    policy: Policy
    queue: str
    """Name of its queue: its own, or that of its shared queue."""
    resources: tuple[str, ...]
    """Extended resources that its nodes offer, one for each MIG profile in a mixed pool."""
    profiles: tuple[str, ...]
    """The MIG profile behind each resource, or WHOLE."""
    available: Vector
    """The amounts of cpu, memory and each resource that all teams together can use."""
    slices: Vector
    """The relative share of cpu and memory of a unit of each resource."""
    units_per_node: int
    """The most units on a node; it limits the step of a packing score."""
    per_node: int
    """Cards of a node."""
    node: NodeResources
    """Allocatable cpu and memory of a node."""
    memory_bytes: int | None
    """Usable memory of one card."""
    product: Product | None
    cut: tuple[MigProfile, ...]
    """The known MIG profiles that its cards are cut into."""

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
        """Units with a proportional share of cpu and memory, rounded down to 1m and 1Mi."""
        weight = sum(units[resource] * self.slices[resource] for resource in self.resources)
        whole = self._weight
        if cpu is None:
            cpu = self.available[CPU] * weight // whole
        if memory is None:
            memory = self.available[MEMORY] // MEBIBYTE * weight // whole * MEBIBYTE
        return {CPU: cpu, MEMORY: memory, **{name: units[name] for name in self.resources}}

    def units(self, amounts: Amounts) -> dict[str, int]:
        """Amounts of a spec (by MIG profile, or in cards) as amounts by resource."""
        resource_of = dict(zip(self.profiles, self.resources, strict=True))
        return {resource_of[profile]: count for profile, count in amounts if profile in resource_of}

    def lends(self, resource: str) -> bool:
        """Whether teams can borrow a resource of its nodes, and its owner can reclaim it."""
        return (
            resource in self.resources
            and self.scheduler != "kube-scheduler"
            and self.policy.preemption_enabled
        )

    @property
    def node_count(self) -> int:
        """The number of its nodes with available cards."""
        capacity = self.pool.capacity
        cards = capacity.available_gpus or capacity.total_gpus
        return (capacity.nodes or 1) if cards is None else -(-cards // self.per_node)

    @property
    def all_nodes(self) -> int:
        """The number of its nodes, also of those whose cards are not available to teams."""
        capacity = self.pool.capacity
        cards = capacity.total_gpus or capacity.available_gpus or self.per_node
        return capacity.nodes or -(-cards // self.per_node)

    @property
    def starts_gangs(self) -> bool:
        """Whether all pods of a gang start together."""
        return self.policy.gang_scheduling and self.scheduler != "kube-scheduler"

    @property
    def is_of_unknown_product(self) -> bool:
        """Whether the memory of its GPUs is unknown because its product is, which has a finding."""
        return self.memory_bytes is None and self.product is None and bool(self.pool.gpu.product)

    @property
    def node_group(self) -> str | None:
        """Value of Volcano's node group label in the nodeSelector."""
        return dict(self.pool.node_selector).get(NODE_GROUP)


def resolve(spec: Spec) -> tuple[dict[str, PoolFacts], list[Hit]]:
    """Facts of every valid pool, by name, and findings about assumptions and errors."""
    queue_of = {pool: queue.name for queue in spec.platform.shared_queues for pool in queue.pools}
    facts: dict[str, PoolFacts] = {}
    hits: list[Hit] = []
    for pool in spec.pools:
        resolved = _resolve(pool, spec.platform, queue_of.get(pool.name, pool.name), hits)
        if resolved is not None:
            facts[pool.name] = resolved
    return facts, hits


def _resolve(pool: Pool, platform: Platform, queue: str, hits: list[Hit]) -> PoolFacts | None:
    product = nodes.product(pool, hits)
    if product is None and pool.guess_product:
        hits.append(nodes.unguessed(pool))
        return None
    memory = pool.gpu.memory_bytes
    if memory is None and product is not None:
        memory = product.memory_mib * MEBIBYTE
    cards = nodes.cards(pool, product, hits)
    node = nodes.node(pool, product, hits)
    if cards is None or node is None:
        return None
    available_cards, per_node = cards
    hits += nodes.contradictions(pool, product, per_node)
    counted = units(pool, Cards(available_cards, per_node, node), product, hits)
    if counted is None:
        return None
    # Cores and bytes of the nodes behind the available cards.
    cpu = node.cpu_milli * available_cards // per_node
    mebibytes = node.memory_bytes * available_cards // per_node // MEBIBYTE
    return PoolFacts(
        pool=pool,
        scheduler=scheduler_of(pool, platform),
        policy=policy(pool, platform),
        queue=queue,
        resources=counted.resources,
        profiles=counted.profiles,
        available={CPU: cpu, MEMORY: mebibytes * MEBIBYTE, **counted.available},
        slices=counted.slices,
        units_per_node=counted.per_node,
        per_node=per_node,
        node=node,
        memory_bytes=memory,
        product=product,
        cut=counted.cut,
    )
