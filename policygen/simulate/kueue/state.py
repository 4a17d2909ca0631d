"""The queues, the flavors and the quota in use, and trials that leave no trace."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from random import Random
from typing import Any

from msgspec import Struct

from policygen.kubernetes.core import TaintView
from policygen.simulate.kueue.pods_ready import PodsReadyRule
from policygen.simulate.kueue.queue import SimulatedQueue
from policygen.simulate.kueue.quota import QuotaNode
from policygen.simulate.kueue.ties import CycleTies
from policygen.simulate.kueue.topology import (
    FlavorTopology,
    Leaf,
    PlacementRequest,
    TopologyPlacement,
)
from policygen.simulate.kueue.workload import PodSet, QueuedWorkload

FINAL_SHARE, INITIAL_SHARE = "LessThanOrEqualToFinalShare", "LessThanInitialShare"
"""The strategies of fair sharing."""


_UNCHANGED = nullcontext()


class FlavorMismatch(Struct, frozen=True):
    """Why the nodes of a flavor do not match pods: a taint, a missing object, or else the affinity."""

    message: str
    """In Kueue's words."""
    taint: TaintView | None = None
    missing: bool = False


class QueueState:
    """Everything that a scheduling cycle reads and changes."""

    def __init__(
        self,
        pairs: Sequence[tuple[str, str]],
        queues: Iterable[SimulatedQueue],
        local_queues: Mapping[str, str],
        mismatch: Callable[[str, Any], FlavorMismatch | None],
        strategies: tuple[str, ...] = (),
    ) -> None:
        self.pairs = pairs
        """Flavor and resource by the index of the pair."""
        self.resources = [resource for _, resource in pairs]
        self.queues = {it.name: it for it in sorted(queues, key=lambda it: it.name)}
        self.of_node = {it.node: it for it in self.queues.values()}
        self.local_queues = local_queues
        """The ClusterQueue of each LocalQueue, by namespace and name; either may not exist."""
        self.stopped: dict[str, str] = {}
        """The stop policy of LocalQueues that are stopped."""
        self.topologies: dict[str, FlavorTopology] = {}
        """By flavor, of those with a topology."""
        self.topology_aware = False
        """Whether `topologies` are known; else what pods ask of them is ignored."""
        self.pods_ready: PodsReadyRule | None = None
        """What happens to workloads whose pods are not ready; None: nothing."""
        self.strategies = strategies
        """Of fair sharing; empty: fair sharing is off."""
        self.fair = bool(strategies)
        self.cycle = 0
        self.ties = CycleTies()
        """Those of the present attempt."""
        self.searches = False
        """Whether the present try looked for workloads to preempt."""
        self.looks = False
        """Whether it looked for workloads of other queues that borrow."""
        self.chance = Random(1)  # noqa: S311 - a simulation
        """Decides which of several possible outcomes of ties comes true."""
        self._mismatch = mismatch
        self._mismatches: dict[tuple[str, Any], FlavorMismatch | None] = {}

    def queue_of(self, workload: QueuedWorkload) -> SimulatedQueue:
        """The ClusterQueue of a workload."""
        return self.queues[self.local_queues[workload.queue]]

    def mismatch(self, flavor: str, pod_set: PodSet) -> FlavorMismatch | None:
        """Why the nodes of a flavor do not match the pods; None: they match."""
        key = flavor, pod_set.shape
        if key not in self._mismatches:
            self._mismatches[key] = self._mismatch(flavor, pod_set.shape)
        return self._mismatches[key]

    def refusal(self, flavor: str, pod_set: PodSet) -> str:
        """Why the nodes of a flavor do not match the pods, in Kueue's words; empty: they match."""
        found = self.mismatch(flavor, pod_set)
        return "" if found is None else found.message

    def reserve(self, node: QuotaNode, usage: Iterable[tuple[int, int]]) -> None:
        """Use amounts by pair."""
        for pair, amount in usage:
            node.add(pair, amount)
        if node.borrows():
            node.root().loans += 1

    def free(self, node: QuotaNode, usage: Iterable[tuple[int, int]]) -> None:
        """The inverse of `reserve`."""
        for pair, amount in usage:
            node.remove(pair, amount)

    def use_domains(self, placements: Iterable[TopologyPlacement], sign: int = 1) -> None:
        """Use what placements use of their topologies, or with the sign -1 free it."""
        for it in placements:
            self.topologies[it.flavor].use(it, sign)

    def hold(self, node: str, amounts: Sequence[tuple[str, int]], sign: int = 1) -> set[str]:
        """A pod that Kueue did not place runs on a node, or ends. Returns the flavors of the node."""
        return {name for name, it in self.topologies.items() if it.hold(node, amounts, sign)}

    def place(
        self, requests: Iterable[PlacementRequest], *, empty: bool = False
    ) -> tuple[dict[str, TopologyPlacement], tuple[str, str] | None]:
        """The placements by pod set; or the pod set that has none, and why.

        If pod sets of several flavors have none, Kueue names any of them.
        """
        found: dict[str, TopologyPlacement] = {}
        failures: dict[str, tuple[str, str]] = {}
        hosts: dict[Leaf, Counter[str]] = {}
        others: dict[str, dict[Leaf, Counter[str]]] = {}
        for it in requests:
            if it.flavor in failures:
                continue
            topology = self.topologies[it.flavor]
            assumed = hosts if topology.by_host else others.setdefault(it.flavor, {})
            placement, reason = topology.place(it, assumed, empty=empty)
            if placement is None:
                failures[it.flavor] = it.name, reason
                continue
            found[it.name] = placement
            for leaf, amounts in placement.usage():
                assumed.setdefault(leaf, Counter()).update(amounts)
        return (found, None) if not failures else ({}, self.ties.pick(list(failures.values())))

    def take_out(self, workload: QueuedWorkload) -> None:
        """Free the quota of an admitted workload, as if it had left."""
        if workload.admission is not None:
            self.use_domains(workload.admission.placements(), -1)
            self.free(self.queue_of(workload).node, workload.admission.usage)

    def put_back(self, workload: QueuedWorkload) -> None:
        """The inverse of `take_out`."""
        if workload.admission is not None:
            self.use_domains(workload.admission.placements())
            self.reserve(self.queue_of(workload).node, workload.admission.usage)

    def without(self, workloads: Sequence[QueuedWorkload]) -> AbstractContextManager[None]:
        """The state in which these admitted workloads hold no quota."""
        return self._without(workloads) if workloads else _UNCHANGED

    @contextmanager
    def _without(self, workloads: Sequence[QueuedWorkload]) -> Iterator[None]:
        for it in workloads:
            self.take_out(it)
        try:
            yield
        finally:
            for it in workloads:
                self.put_back(it)

    @contextmanager
    def using(self, node: QuotaNode, usage: Mapping[int, int]) -> Iterator[None]:
        """The state in which a node uses these amounts in addition."""
        self.reserve(node, usage.items())
        try:
            yield
        finally:
            self.free(node, usage.items())
