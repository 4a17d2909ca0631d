"""The nodes with free accelerators that are of no use to pods of one shape, and why. It follows each change of a node."""

from collections.abc import Mapping

from policygen.kubernetes.accelerators import is_one
from policygen.simulate.placement.own_scores import FIT
from policygen.simulate.placement.pod_filters import pod_filters
from policygen.simulate.placement.scheduler import LASTING_FILTERS, KubeScheduler
from policygen.simulate.placement.shape import PodShape

HOST = "cpu or memory of the nodes is used up"
TOO_FEW = "too few GPUs left on each node"
GANG = "too few GPUs for all pods that start together"
NO_MATCH = "the pods do not match the nodes"
QUOTA = "quota"
ON_NODES = (HOST, TOO_FEW, GANG, QUOTA, NO_MATCH)
"""The causes of pods that wait for a node; of several, the first one counts for a node."""
_HOST, _TOO_FEW, _NO_MATCH = map(ON_NODES.index, (HOST, TOO_FEW, NO_MATCH))


class UselessNodes:
    """The nodes of pools that are of no use to pods of a shape, which must be `alone`."""

    def __init__(self, kube: KubeScheduler, shape: PodShape, pools: Mapping[str, str]) -> None:
        """`pools` has the pool of each node by name."""
        nodes = kube.nodes
        self._versions, self._absent = nodes.versions, kube.absent
        self._takers = frozenset(kube.takers(shape))
        self._pools = {i: pools[it.name] for i, it in enumerate(nodes.all) if it.name in pools}
        self._seen = [-1] * len(nodes.all)
        self._room = [(nodes.free(name), amount, is_one(name)) for name, amount in shape.requests]
        self.causes: dict[str, dict[int, int]] = {it: {} for it in dict.fromkeys(pools.values())}
        """By pool and node with free accelerators, the index of the cause in ON_NODES."""
        self._lacking: set[int] = set()
        """The nodes that only lack room."""

    def follow(self) -> None:
        """Look again at the nodes that changed."""
        versions, seen = self._versions, self._seen
        for node in [it for it in self._pools if seen[it] != versions[it]]:
            seen[node] = versions[node]
            causes = self.causes[self._pools[node]]
            cause = self._cause(node)
            if cause is None:
                causes.pop(node, None)
            else:
                causes[node] = cause

    @property
    def fitting(self) -> set[str]:
        """The pools with such a node that the pods match."""
        return {
            pool
            for pool, causes in self.causes.items()
            if any(it != _NO_MATCH for it in causes.values())
        }

    @property
    def matched(self) -> bool:
        """Whether the pods match a node of the pools that refuses them, also one without free accelerators."""
        return bool(self._lacking)

    def _cause(self, node: int) -> int | None:
        """None: the node has no free accelerator, does not exist, or takes the pods."""
        self._lacking.discard(node)
        if node in self._absent:
            return None
        has_free = any(free[node] > 0 for free, _, one in self._room if one)
        if node not in self._takers:
            return _NO_MATCH if has_free else None
        short = [one for free, amount, one in self._room if free[node] < amount]
        if not short:
            return None
        self._lacking.add(node)
        if not has_free:
            return None
        return _TOO_FEW if any(short) else _HOST


def alone(kube: KubeScheduler, shape: PodShape) -> bool:
    """Whether only lasting filters, and then the room of a node, can keep pods of a shape from it."""
    profile = kube.profiles[shape.scheduler]
    order = [it for it in profile.filters if it in LASTING_FILTERS or it == FIT]
    return order[-1:] == [FIT] and not pod_filters(kube.nodes, shape, profile)
