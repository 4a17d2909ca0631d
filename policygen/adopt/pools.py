"""The pools of a spec: the flavors and queues of a cluster, and pools that only quotas show."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from policygen.adopt import capacity, node_autoscaler
from policygen.adopt.capacity import NO_NEED, NodeNeed, NodeShape, PodShare
from policygen.adopt.profiles import Profiles
from policygen.adopt.quotas import HERE
from policygen.adopt.trees import TeamTree, label, unused
from policygen.adopt.volcano import node_group
from policygen.core.names import HOSTNAME, NODE_GROUP
from policygen.core.tolerations import EFFECTS
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue import ResourceFlavorView
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import integer, mappings
from policygen.plan.amounts import CPU, HOST, MEMORY, Vector
from policygen.plan.fit import Size
from policygen.plan.pods import share
from policygen.plan.pool import resolve
from policygen.spec.types import (
    Pool,
    Scheduler,
    SchedulingPolicy,
    Spec,
    Taint,
    Toleration,
)

Labels = tuple[tuple[str, str], ...]


class Found(Struct, frozen=True, eq=False):
    """A pool, and what decides its nodes."""

    name: str
    scheduler: Scheduler
    available: Vector
    pool: Pool
    """Without its GPUs and capacity."""
    profile: str | None = None
    """The profile that its pods name: `binpack`, `spread`, or empty; None if no pods show it."""

    @property
    def resources(self) -> frozenset[str]:
        """Its extended resources."""
        return frozenset(it for it in self.available if it not in HOST)


def of_trees(cluster: Cluster, trees: Iterable[TeamTree]) -> list[Found]:
    """The pools that queues divide."""
    return [
        Found(name, tree.scheduler, tree.available[name], _pool(cluster, tree, name))
        for tree in trees
        for name in tree.pools
    ]


def _pool(cluster: Cluster, tree: TeamTree, name: str) -> Pool:
    labels: Mapping[str, str] = {}
    taints: tuple[Taint, ...] = ()
    tolerations: tuple[Toleration, ...] | None = None
    aware: bool | None = None
    levels: tuple[str, ...] = ()
    flavor = flavor_of(cluster, name) if tree.scheduler == "kueue" else None
    if flavor is not None:
        labels = flavor.fields.node_labels
        taints = tuple(
            Taint(it.key, it.effect, it.value or None)
            for it in flavor.fields.node_taints
            if it.effect in EFFECTS  # the comparison lists the others
        )
        tolerations = _tolerations(flavor.object.data, taints)
        aware = True if flavor.fields.topology_name else None
        topology = cluster.topologies.get(flavor.fields.topology_name)
        if topology is not None:
            levels = tuple(it.node_label for it in topology.fields.levels)
    elif tree.root is not None:
        group = node_group(tree.root)
        labels = {NODE_GROUP: group} if group else {}
    pool = Pool(
        name=name,
        at=HERE,
        node_selector=tuple(sorted(labels.items())),
        scheduler=None if tree.scheduler == "kueue" else tree.scheduler,
        taints=taints,
        tolerations=tolerations,
        scheduling_policy=SchedulingPolicy(
            topology_aware=aware,
            preemption_enabled=False if tree.preempts is False else None,
        ),
        topology_levels=() if levels == (HOSTNAME,) else levels,
    )
    flavored = flavor.name if flavor else ""
    return replace(pool, autoscaler=node_autoscaler.of_pool(cluster, pool, flavored))


def flavor_of(cluster: Cluster, pool: str) -> Entry[ResourceFlavorView] | None:
    """The flavor that is a pool of Kueue; None if it was not read."""
    return next((it for it in cluster.flavors if label(it.name) == pool), None)


def _text(data: Mapping[str, Any], name: str) -> str | None:
    """A string, also an empty one; None if it is missing or of another type."""
    found = data.get(name)
    return found if isinstance(found, str) else None


def _tolerations(data: object, taints: Sequence[Taint]) -> tuple[Toleration, ...] | None:
    """The tolerations of a flavor; None if they are exactly those that its taints need."""
    found = tuple(
        Toleration(
            _text(it, "key"),
            _text(it, "operator"),
            _text(it, "value"),
            _text(it, "effect"),
            integer(it.get("tolerationSeconds")),
        )
        for it in mappings(data, "spec", "tolerations")
        if not (effect := _text(it, "effect")) or effect in EFFECTS
    )
    return None if found == tuple(map(needed, taints)) else found


def needed(taint: Taint) -> Toleration:
    """The toleration that the plan makes for a taint of a pool."""
    operator = "Equal" if taint.value else "Exists"
    return Toleration(taint.key, operator, taint.value, taint.effect)


def completed(
    found: Sequence[Found], profiles: Profiles, needs: Mapping[str, NodeNeed]
) -> tuple[list[Pool], frozenset[int]]:
    """The pools with their nodes, and the ranks of those that a profile packs.

    A resource that no profile has is neither packed nor spread.
    """
    pools = []
    ranks: set[int] = set()
    open_packs, open_spreads = set(profiles.packed), set(profiles.spread)
    for it in found:
        placed = it.scheduler != "volcano"
        packs = placed and it.resources <= profiles.packed.keys()
        spreads = placed and it.resources <= profiles.spread
        if packs and spreads:  # two pools with the same resource: the first one packs
            packs = bool(it.resources & open_packs) and not it.pool.scheduling_policy.spread
            spreads = not packs
        if it.profile is not None:
            packs, spreads = it.profile == "binpack", it.profile == "spread"
        need = needs.get(it.name, NO_NEED)
        if it.scheduler == "kube-scheduler":
            need = replace(need, exact=False)  # its quotas limit teams, and are no sums of nodes
        others = partial(_other_shares, it.pool, need.shares)
        shape = capacity.best(
            it.available,
            need,
            profiles.rank if packs else _any,
            others,
            packed=it.profile == "binpack",
        )
        if packs and shape and profiles.rank(shape.units_per_node) > 1:
            packs = False  # its nodes would change the weights of the profile
            shape = capacity.best(it.available, need, _any, others)
        policy = it.pool.scheduling_policy
        if spreads:
            policy = replace(policy, spread=True)
        elif placed and not packs and profiles.read:
            policy = replace(policy, bin_pack=False)
        pool = replace(it.pool, scheduling_policy=policy)
        pools.append(pool if shape is None else with_shape(pool, shape))
        if packs:
            open_packs -= it.resources
            ranks |= {profiles.rank(shape.units_per_node)} if shape else set()
        if spreads:
            open_spreads -= it.resources
    return pools, frozenset(ranks)


def _other_shares(pool: Pool, pods: Sequence[PodShare], shape: NodeShape) -> tuple[int, int]:
    """How many pods do not request the cpu or memory that the plan gives them on such nodes.

    First those that request none of it: a model can set an amount, but not that it requests none. Then the
    amounts that differ.
    """
    if not pods:
        return 0, 0
    (facts,) = resolve(Spec(pools=(with_shape(pool, shape),)))[0].values()
    missing = number = 0
    for it in pods:
        found = share([facts], Size(it.resource, it.units))
        pairs = ((found[CPU], it.cpu_milli), (found[MEMORY], it.memory_bytes))
        missing += any(made and not requested for made, requested in pairs)
        number += sum(made != requested for made, requested in pairs)
    return missing, number


def _any(_: int) -> int:
    """The rank of a node of a pool that no profile packs."""
    return 0


def with_shape(pool: Pool, shape: NodeShape) -> Pool:
    """A pool with these nodes."""
    return replace(pool, gpu=shape.gpu, capacity=shape.capacity)


def without_pool(
    found: Sequence[Found], pools: Sequence[Pool], profiles: Profiles, ranks: frozenset[int]
) -> list[Found]:
    """Pools of kube-scheduler that only the profiles show: they have no quota of any team."""
    style = {pool.name: pool.scheduling_policy for pool in pools}
    placed = [it for it in found if it.scheduler != "volcano"]

    def has(resource: str, *, spread: bool) -> bool:
        return any(
            resource in it.resources
            and bool(style[it.name].spread) == spread
            and style[it.name].bin_pack is not False
            for it in placed
        )

    missing = [(it, True) for it in sorted(profiles.spread) if not has(it, spread=True)]
    missing += [(it, False) for it in sorted(profiles.packed) if not has(it, spread=False)]
    if profiles.packed and 0 not in ranks and not any(not spread for _, spread in missing):
        missing.append((min(profiles.packed), False))  # a larger node made the weights
    count = next((it for it in range(1, 1025) if profiles.rank(it) == 0), 1)
    return [
        unseen(number, resource, SchedulingPolicy(spread=True if spread else None), count)
        for number, (resource, spread) in enumerate(missing, 1)
    ]


def unseen(number: int, resource: str, policy: SchedulingPolicy, count: int = 1) -> Found:
    """A pool of kube-scheduler without a quota, with one node of so many GPUs."""
    name = f"unseen-{number}"
    pool = Pool(
        name=name,
        at=HERE,
        node_selector=(),
        scheduler="kube-scheduler",
        scheduling_policy=policy,
    )
    return Found(name, "kube-scheduler", {resource: count}, pool)


def apart(pools: Sequence[Pool]) -> tuple[list[Pool], frozenset[str]]:
    """The pools, each with a nodeSelector, and the names of those whose nodeSelector is a guess.

    No object shows which nodes a pool without a flavor has. Its labels are the keys of the others,
    with its own name as value, because no node may match two pools.
    """
    known = [pool for pool in pools if pool.node_selector and not _is_group(pool)]
    keys: list[str] = []
    left = list(known)
    while left:
        counts: dict[str, int] = {}
        for pool in left:
            for key, _ in pool.node_selector:
                counts[key] = counts.get(key, 0) + 1
        key = max(sorted(counts), key=lambda it: counts[it])
        keys.append(key)
        left = [pool for pool in left if key not in dict(pool.node_selector)]
    keys = keys or ["policygen.dev/pool"]
    made, guessed = [], set()
    for pool in pools:
        if pool in known:
            made.append(pool)
            continue
        guessed.add(pool.name)
        taken = {value for it in known for key, value in it.node_selector if key in keys}
        own = unused(pool.name, taken)
        labels = {**dict.fromkeys(keys, own), **dict(pool.node_selector)}
        made.append(replace(pool, node_selector=tuple(sorted(labels.items()))))
    return made, frozenset(guessed)


def in_groups(pools: Sequence[Pool], found: Iterable[Found]) -> tuple[list[Pool], frozenset[str]]:
    """The pools, those of Volcano with a node group where they share a resource, and the names of these.

    The queues of such pools count the nodes of each other, which the plan refuses.
    """
    resources = {it.name: it.resources for it in found if it.scheduler == "volcano"}
    made, named = [], set()
    for pool in pools:
        mine = resources.get(pool.name, frozenset())
        beside = any(mine & theirs for name, theirs in resources.items() if name != pool.name)
        if beside and NODE_GROUP not in dict(pool.node_selector):
            named.add(pool.name)
            labels = {**dict(pool.node_selector), NODE_GROUP: pool.name}
            made.append(replace(pool, node_selector=tuple(sorted(labels.items()))))
        else:
            made.append(pool)
    return made, frozenset(named)


def _is_group(pool: Pool) -> bool:
    return [key for key, _ in pool.node_selector] == [NODE_GROUP]
