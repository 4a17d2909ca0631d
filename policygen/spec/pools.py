"""What a pool says about itself and beside the other pools."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import chain, combinations

from policygen.finding import Hit
from policygen.spec import labels
from policygen.spec.types import Platform, Pool, Spec

SHARED_PER_GPU = ("timeSlicing", "mps")


def scheduler_of(pool: Pool, platform: Platform) -> str:
    """Who schedules a pool."""
    return pool.scheduler or platform.scheduler


def check(spec: Spec) -> Iterator[Hit]:
    """Faults of each pool, and of pools that claim the same nodes."""
    for pool in spec.pools:
        yield from labels.check(pool)
        yield from _policy(pool)
        yield from _gpu(pool)
        yield from _capacity(pool)
    yield from _overlaps(spec)
    for pool in spec.pools:
        if scheduler_of(pool, spec.platform) == "volcano" and pool.name in ("root", "default"):
            yield Hit(
                "reserved-name",
                f'Volcano makes a queue "{pool.name}" of its own; rename the pool',
                pool.at / "metadata" / "name",
            )


def _policy(pool: Pool) -> Iterator[Hit]:
    policy = pool.scheduling_policy
    at = pool.at / "spec" / "schedulingPolicy"
    if policy.bin_pack and policy.spread:
        yield Hit(
            "pack-and-spread",
            "binPack and spread are both true, and one undoes the other; set one of them to false",
            at / "spread",
        )


def _gpu(pool: Pool) -> Iterator[Hit]:
    gpu = pool.gpu
    at = pool.at / "spec" / "gpu"
    if gpu.sharing in SHARED_PER_GPU and gpu.replicas < 2:
        yield Hit(
            "sharing-without-replicas",
            f"sharing {gpu.sharing} needs `replicas`, how many pods share one GPU (2 or more)",
            at / "sharing",
        )
    if gpu.sharing not in SHARED_PER_GPU and gpu.replicas > 1:
        yield Hit(
            "replicas-without-sharing",
            "replicas divide a GPU only under `sharing: timeSlicing` or `mps`; "
            "write one of them or remove replicas",
            at / "replicas",
        )
    if gpu.sharing == "mig" and not gpu.instances:
        yield Hit(
            "mig-without-instances",
            "sharing mig needs `mig.instances`: how many instances of each profile the pool has, "
            "such as 1g.10gb: 14",
            at / "sharing",
        )
    if gpu.sharing != "mig" and gpu.instances:
        yield Hit(
            "instances-without-mig",
            "mig.instances counts only under `sharing: mig`; write it or remove mig",
            (at / "mig").on_key(),
        )
    if gpu.mig_strategy == "single" and len(gpu.instances) > 1:
        yield Hit(
            "mig-single-mixed",
            "strategy single has one profile on every card; keep one profile or write "
            "`strategy: mixed`",
            (at / "mig" / "instances").on_key(),
        )


def _capacity(pool: Pool) -> Iterator[Hit]:
    capacity = pool.capacity
    at = pool.at / "spec" / "capacity"
    total, available = capacity.total_gpus, capacity.available_gpus
    if capacity.nodes is None and total is None and available is None:
        yield Hit(
            "capacity-missing",
            f'nothing says how many GPUs pool "{pool.name}" has; write capacity.nodes, '
            "totalGPUs or availableGPUs",
            at.on_key(),
        )
    if total is None and capacity.nodes is not None and pool.gpu.per_node is not None:
        total = capacity.nodes * pool.gpu.per_node
    if total is not None and available is not None and available > total:
        yield Hit(
            "available-above-total",
            f"{available} GPUs are available of only {total}; correct one of them",
            at / "availableGPUs",
        )
    if (
        capacity.nodes is not None
        and capacity.total_gpus is not None
        and pool.gpu.per_node is not None
        and capacity.nodes * pool.gpu.per_node != capacity.total_gpus
    ):
        yield Hit(
            "total-contradicts-nodes",
            f"{capacity.nodes} nodes of {pool.gpu.per_node} GPUs have "
            f"{capacity.nodes * pool.gpu.per_node}, not {capacity.total_gpus}; "
            "write totalGPUs or nodes, not both",
            at / "totalGPUs",
        )


def _overlaps(spec: Spec) -> Iterator[Hit]:
    for first, second in _candidates(list(spec.pools), frozenset()):
        schedulers = {scheduler_of(pool, spec.platform) for pool in (first, second)}
        at = (second.at / "spec" / "nodeSelector").on_key()
        advice = "give one label key different values in the two nodeSelectors"
        if len(schedulers) > 1:
            yield Hit(
                "two-schedulers",
                f'a node can match both this pool and "{first.name}", and two schedulers '
                f"({' and '.join(sorted(schedulers))}) would book its GPUs twice; {advice}",
                at,
            )
        else:
            yield Hit(
                "pools-overlap",
                f'a node can match both this pool and "{first.name}", so its GPUs would be '
                f"counted twice; {advice}",
                at,
            )


def _candidates(pools: list[Pool], split: frozenset[str]) -> Iterator[tuple[Pool, Pool]]:
    """Pairs that no label key keeps apart.

    Pools are apart if one key has different values in them. Splitting by the commonest key
    first keeps thousands of pools that differ in one label from being compared pairwise.
    """
    if len(pools) < 2:
        return
    count = Counter(key for pool in pools for key, _ in pool.node_selector if key not in split)
    if not count:
        yield from combinations(pools, 2)
        return
    key = min(count, key=lambda name: (-count[name], name))
    groups: defaultdict[str | None, list[Pool]] = defaultdict(list)
    for pool in pools:
        groups[dict(pool.node_selector).get(key)].append(pool)
    without = groups.pop(None, [])
    for group in (*groups.values(), without):
        yield from _candidates(group, split | {key})
    for first in without:
        for second in chain.from_iterable(groups.values()):
            if not _apart(first, second):
                yield first, second


def _apart(first: Pool, second: Pool) -> bool:
    other = dict(second.node_selector)
    return any(key in other and other[key] != value for key, value in first.node_selector)
