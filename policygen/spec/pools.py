"""Checks pools, each separately and together with the other pools."""

from collections import defaultdict
from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.quoting import counted
from policygen.hardware import catalog
from policygen.spec import rules
from policygen.spec.types import Platform, Pool, Scheduler, Spec

SHARED_PER_GPU = ("timeSlicing", "mps")


def scheduler_of(pool: Pool, platform: Platform) -> Scheduler:
    """The scheduler of a pool: its own, or the default of the Platform."""
    return pool.scheduler or platform.scheduler


def check(spec: Spec) -> Iterator[Hit]:
    """Faults of pools that depend on the other pools or on the Platform."""
    yield from _overlaps(spec)
    for pool in spec.pools:
        if scheduler_of(pool, spec.platform) == "volcano" and pool.name in {"root", "default"}:
            yield Hit(
                rules.RESERVED_NAME,
                f'pool "{pool.name}" has the same name as a queue that Volcano creates; rename the pool',
                pool.at / "metadata" / "name",
            )


def faults(pool: Pool) -> Iterator[Hit]:
    """Faults of one pool: missing and contradictory settings."""
    yield from _gpu(pool)
    yield from _capacity(pool)


def _gpu(pool: Pool) -> Iterator[Hit]:
    gpu = pool.gpu
    at = pool.at / "spec" / "gpu"
    if gpu.sharing in SHARED_PER_GPU and gpu.replicas < 2:
        yield Hit(
            rules.SHARING_WITHOUT_REPLICAS,
            f"sharing: {gpu.sharing} needs gpu.replicas, the number of pods per GPU; write replicas: 2 or more",
            at / "sharing",
        )
    if gpu.sharing not in SHARED_PER_GPU and gpu.replicas > 1:
        yield Hit(
            rules.REPLICAS_WITHOUT_SHARING,
            "gpu.replicas has no effect without sharing; write sharing: timeSlicing or mps, or remove replicas",
            at / "replicas",
        )
    if gpu.sharing == "mig" and not gpu.instances:
        yield Hit(
            rules.MIG_WITHOUT_INSTANCES,
            "sharing: mig needs mig.instances, the number of instances per profile; write "
            "instances such as 1g.10gb: 14",
            at / "sharing",
        )
    if gpu.sharing != "mig" and (gpu.instances or gpu.mig_strategy != "mixed"):
        yield Hit(
            rules.MIG_WITHOUT_SHARING,
            "the settings under gpu.mig have no effect without sharing: mig; write sharing: mig, or remove gpu.mig",
            (at / "mig").on_key(),
        )
    if gpu.mig_strategy == "single" and len(gpu.instances) > 1:
        yield Hit(
            rules.MIG_SINGLE_MIXED,
            "strategy: single allows only one profile; keep one profile, or write strategy: mixed",
            (at / "mig" / "instances").on_key(),
        )


def _capacity(pool: Pool) -> Iterator[Hit]:
    capacity = pool.capacity
    nodes, total, available = capacity.nodes, capacity.total_gpus, capacity.available_gpus
    if nodes is None and total is None and available is None:
        fields = "totalGPUs or availableGPUs"
        if not pool.guess_product:
            fields = f"nodes, {fields}"
        yield Hit(
            rules.CAPACITY_MISSING,
            f'pool "{pool.name}" does not set how many GPUs it has; write capacity.{fields}',
            (pool.at / "spec" / "capacity").on_key(),
        )
    per_node = _per_node(pool)
    on_nodes = nodes * per_node if nodes is not None and per_node is not None else None
    if total is not None and on_nodes is not None and total != on_nodes:
        yield Hit(
            rules.TOTAL_CONTRADICTS_NODES,
            f"totalGPUs is {total}, but nodes times GPUs per node is {nodes} × {per_node} = {on_nodes}; "
            "correct one of the numbers, or write only nodes or only totalGPUs",
            pool.capacity_at("totalGPUs"),
        )
    if total is None:
        total = on_nodes
    if total is not None and available is not None and available > total:
        yield Hit(
            rules.AVAILABLE_ABOVE_TOTAL,
            f"availableGPUs is {available}, but the pool has only {counted(total, 'GPU')}; correct one of the numbers",
            pool.capacity_at("availableGPUs"),
        )


def _per_node(pool: Pool) -> int | None:
    """GPUs of a node if the pool sets them, or its node type is known."""
    if pool.gpu.per_node is not None or pool.capacity.node_type is None:
        return pool.gpu.per_node
    shape = catalog.shape(pool.capacity.node_type)
    return shape.gpus if shape else None


def _overlaps(spec: Spec) -> Iterator[Hit]:
    """Each pool whose nodeSelector can match a node of a pool before it.

    Two pools have no node in common if one label key has different values in them. Sets of pools are bits of
    an integer, so that thousands of pools are compared at once.
    """
    with_key: defaultdict[str, int] = defaultdict(int)
    with_label: defaultdict[tuple[str, str], int] = defaultdict(int)
    of_scheduler: defaultdict[str, int] = defaultdict(int)
    before = 0
    for number, pool in enumerate(spec.pools):
        together = before
        for label in pool.node_selector:
            together &= with_label[label] | ~with_key[label[0]]
        scheduler = scheduler_of(pool, spec.platform)
        if together:
            others = together & ~of_scheduler[scheduler]
            yield _overlap(pool, spec, _numbers(others or together), differ=bool(others))
        bit = 1 << number
        for label in pool.node_selector:
            with_key[label[0]] |= bit
            with_label[label] |= bit
        of_scheduler[scheduler] |= bit
        before |= bit


def _numbers(bits: int) -> tuple[int, int]:
    """The first number of a set, and how many more there are."""
    return (bits & -bits).bit_length() - 1, bits.bit_count() - 1


def _overlap(pool: Pool, spec: Spec, found: tuple[int, int], *, differ: bool) -> Hit:
    number, more = found
    other = spec.pools[number]
    names = f'"{other.name}"' + (f" (and {more} more)" if more else "")
    at = (pool.at / "spec" / "nodeSelector").on_key()
    advice = "give one label key different values in the nodeSelectors of the two pools"
    if differ:
        schedulers = " and ".join(sorted(scheduler_of(it, spec.platform) for it in (pool, other)))
        return Hit(
            rules.TWO_SCHEDULERS,
            f"a node can match both this pool and {names}, and two schedulers ({schedulers}) "
            f"would assign the GPUs of the node twice; {advice}",
            at,
        )
    return Hit(
        rules.POOLS_OVERLAP,
        f"a node can match both this pool and {names}, so the GPUs of the node would be counted twice; "
        f"{advice}",
        at,
    )
