"""Which pods kube-scheduler would evict, so that a pod of a higher priority has room on a node.

It looks at all nodes that evictions can open, and does not know PodDisruptionBudgets and nominated pods.
Source: pkg/scheduler/framework/plugins/defaultpreemption and framework/preemption of Kubernetes 1.36.3.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from policygen.kubernetes.scheduler_reasons import INSUFFICIENT
from policygen.simulate.placement.own_scores import FIT
from policygen.simulate.placement.pod_filters import MISSING_LABEL, NO_AFFINITY, pod_filters
from policygen.simulate.placement.scheduler import KubeScheduler
from policygen.simulate.placement.shape import PodShape

_LASTING = (MISSING_LABEL, NO_AFFINITY)
"""Reasons that kube-scheduler does not try to remove by evictions (UnschedulableAndUnresolvable)."""
_OFFSET = 2**31
"""Added to each priority of a sum, so that fewer pods with a negative priority are better."""


class RunningPod(Struct, frozen=True):
    """A pod on a node."""

    name: str
    shape: PodShape
    priority: int
    started: float
    """Seconds."""


class NodePreemption(Struct, frozen=True):
    """Pods whose eviction gives a pod room on a node."""

    node: int
    victims: tuple[RunningPod, ...]
    """The most important first."""

    @property
    def cost(self) -> tuple[int, int, int, float]:
        """Sorts preemptions as kube-scheduler prefers them."""
        highest = self.victims[0].priority
        total = sum(it.priority + _OFFSET for it in self.victims)
        started = min(it.started for it in self.victims if it.priority == highest)
        return highest, total, len(self.victims), -started


def best(found: Iterable[NodePreemption]) -> tuple[NodePreemption, ...]:
    """The best of the preemptions; of several, kube-scheduler takes any."""
    them = list(found)
    least = min((it.cost for it in them), default=None)
    return tuple(it for it in them if it.cost == least)


def preemptions(
    scheduler: KubeScheduler,
    shape: PodShape,
    priority: int,
    running: Mapping[int, Sequence[RunningPod]],
) -> Iterator[NodePreemption]:
    """The victims on each node where evictions give a pod room. `running` has all pods by node."""
    trial = _Trial(scheduler, shape)
    for node, reasons in scheduler.refusals(shape).items():
        lower = [it for it in running.get(node, ()) if it.priority < priority]
        if lower and trial.can_open(node, reasons):
            victims = trial.victims(node, lower)
            if victims:
                yield NodePreemption(node, victims)


class _Trial:
    """Asks the filters whether a node has room without some of its pods."""

    def __init__(self, scheduler: KubeScheduler, shape: PodShape) -> None:
        profile = scheduler.profiles[shape.scheduler]
        self._nodes = scheduler.nodes
        self._takers = frozenset(scheduler.takers(shape))
        self._requests = shape.requests if FIT in profile.filters else ()
        self._filters = tuple(pod_filters(scheduler.nodes, shape, profile).values())
        self._freed: dict[str, int] = {}
        """What the pods that are gone on trial held."""

    def can_open(self, node: int, reasons: Sequence[str]) -> bool:
        """Whether kube-scheduler tries evictions there: nothing else than pods keeps the pod away."""
        enough = all(self._nodes.allocatable(name)[node] >= it for name, it in self._requests)
        short = any(it.startswith(INSUFFICIENT) for it in reasons)
        return node in self._takers and reasons[0] not in _LASTING and (enough or not short)

    def victims(self, node: int, lower: Sequence[RunningPod]) -> tuple[RunningPod, ...]:
        """The pods that must go; the most important ones stay if possible."""
        self._freed = {}
        for it in lower:
            self._move(node, it.shape, -1)
        opened = self._has_room(node)
        gone: list[RunningPod] = []
        for it in sorted(lower, key=lambda it: (-it.priority, it.started)):
            self._move(node, it.shape, 1)
            if opened and not self._has_room(node):
                self._move(node, it.shape, -1)
                gone.append(it)
        for it in gone:
            self._move(node, it.shape, 1)
        return tuple(gone)

    def _move(self, node: int, pod: PodShape, count: int) -> None:
        for name, amount in pod.requests:
            self._freed[name] = self._freed.get(name, 0) - count * amount
        for it in self._filters:
            it.follow(node, pod, count)

    def _has_room(self, node: int) -> bool:
        for name, amount in self._requests:
            if self._nodes.free(name)[node] + self._freed.get(name, 0) < amount:
                return False
        return not any(it.refusals([it.key(node)])[0] for it in self._filters)
