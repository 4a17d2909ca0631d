"""Pods that wait for a node while GPUs are free, because earlier pods were spread over the nodes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.node_filters import misses_beside_amounts
from policygen.kubernetes.node_groups import Node
from policygen.simulate.placement.nodes import NodeTable
from policygen.simulate.placement.profile import Profile, Strategy
from policygen.simulate.placement.scheduler import KubeScheduler
from policygen.simulate.placement.shape import PodShape

_SEEDS = (None, 1, 2)
_OPPOSED = ("NodeResourcesBalancedAllocation", "ImageLocality")
"""Scores that a packing profile disables. Without default constraints, PodTopologySpread scores nothing."""
_FIT, _FIT_WEIGHT = "NodeResourcesFit", 10


class PlacedPods(Struct, frozen=True):
    """What became of pods that started one after the other."""

    waiting: Mapping[PodShape, int]
    """Those without a node."""
    free: Mapping[str, int]
    """Accelerators that no pod holds, by resource, on nodes that these pods may use."""

    @property
    def count(self) -> int:
        """How many pods wait."""
        return sum(self.waiting.values())


class Stranding(Struct, frozen=True):
    """The same pods under a profile, and under one that packs."""

    now: PlacedPods
    packed: PlacedPods


def stranding(
    nodes: Sequence[Node], profile: Profile, pods: Sequence[tuple[PodShape, int]]
) -> Stranding | None:
    """What waits only because a profile does not pack; None: nothing does.

    The pods with the fewest accelerators start first. Where kube-scheduler chooses at random, the best of
    several choices counts for the profile, and the worst for packing.
    """
    ordered = sorted(pods, key=lambda it: accelerators_of(it[0]))
    now = min((_placed(nodes, profile, ordered, it) for it in _SEEDS), key=lambda it: it.count)
    if not now.count:
        return None
    names = {name for shape, _ in pods for name, _ in shape.requests if is_one(name)}
    packing = packing_profile(profile, sorted(names))
    packed = max((_placed(nodes, packing, ordered, it) for it in _SEEDS), key=lambda it: it.count)
    return Stranding(now, packed) if packed.count < now.count else None


def packing_profile(profile: Profile, resources: Iterable[str]) -> Profile:
    """The same profile, but it fills nodes by these resources, and nothing opposes that."""
    weights = {name: it for name, it in profile.weights.items() if name not in _OPPOSED}
    return replace(
        profile,
        weights={**weights, _FIT: _FIT_WEIGHT},
        strategy=Strategy(tuple((it, 1) for it in resources), most=True),
        constraints=(),
        system_constraints=False,
    )


def accelerators_of(shape: PodShape) -> int:
    """All accelerators that a pod requests."""
    return sum(amount for name, amount in shape.requests if is_one(name))


def _placed(
    nodes: Sequence[Node], profile: Profile, pods: Sequence[tuple[PodShape, int]], seed: int | None
) -> PlacedPods:
    kube = KubeScheduler(nodes, (profile,), seed)
    waiting: Counter[PodShape] = Counter()
    for shape, count in pods:
        for i in range(count):
            if kube.place(shape) is None:
                waiting[shape] += count - i
                break
    return PlacedPods(dict(waiting), free_for(kube.nodes, waiting))


def free_for(table: NodeTable, pods: Iterable[PodShape]) -> Mapping[str, int]:
    """The accelerators that no pod holds, by resource, on nodes that one of the pods that request them may use."""
    usable: dict[str, set[int]] = {}
    for shape in pods:
        indexes = {
            table.index[node.name]
            for group in table.set.groups(shape.demand.keys)
            if not any(misses_beside_amounts(shape.demand, group))
            for node in group.nodes
        }
        for name, _ in shape.requests:
            if is_one(name):
                usable.setdefault(name, set()).update(indexes)
    return {name: sum(table.free(name)[i] for i in usable[name]) for name in sorted(usable)}
