"""Victims of a preemption: who can be one, in which order, and whether a workload fits without them.

Source: pkg/scheduler/preemption and its package common, of Kueue 0.19.2.
"""

from collections.abc import Iterator, Mapping
from enum import Enum

from msgspec import Struct

from policygen.simulate.kueue.queue import ANY, NEVER, NEWER_EQUAL, SimulatedQueue
from policygen.simulate.kueue.state import QueueState
from policygen.simulate.kueue.topology import PlacementRequest
from policygen.simulate.kueue.workload import QueuedWorkload


class PreemptionReason(Enum):
    """The reason of a preemption; the value is that of the condition Preempted."""

    IN_CLUSTER_QUEUE = "InClusterQueue"
    IN_COHORT_RECLAMATION = "InCohortReclamation"
    IN_COHORT_FAIR_SHARING = "InCohortFairSharing"
    IN_COHORT_RECLAIM_WHILE_BORROWING = "InCohortReclaimWhileBorrowing"

    @property
    def words(self) -> str:
        """As Kueue's messages describe it."""
        return _WORDS[self]


_WORDS = {
    PreemptionReason.IN_CLUSTER_QUEUE: "prioritization in the ClusterQueue",
    PreemptionReason.IN_COHORT_RECLAMATION: "reclamation within the cohort",
    PreemptionReason.IN_COHORT_FAIR_SHARING: "Fair Sharing within the cohort",
    PreemptionReason.IN_COHORT_RECLAIM_WHILE_BORROWING: "reclamation within the cohort while borrowing",
}


class Victim(Struct, frozen=True):
    """A workload to preempt."""

    workload: QueuedWorkload
    reason: PreemptionReason


class Preemptor(Struct, frozen=True):
    """A workload that needs quota which others use."""

    state: QueueState
    workload: QueuedWorkload
    queue: SimulatedQueue
    needs: frozenset[int]
    """The pairs of which too little is available."""
    requested: Mapping[int, int]
    """All that it requests, by pair."""
    placing: tuple[PlacementRequest, ...] = ()
    """The pods for which topologies must have room, too."""

    def fits(self, *, borrowing: bool = True) -> bool:
        """Whether it fits now, with borrowing or without."""
        node = self.queue.node
        for pair, amount in self.requested.items():
            if not borrowing and node.borrows_with(pair, amount):
                return False
            if amount > max(0, node.available(pair)):
                return False
        return not self.placing or self.state.place(self.placing)[1] is None

    def candidates(self, queue: SimulatedQueue, policy: str) -> Iterator[QueuedWorkload]:
        """The workloads of a queue that use what it needs, and that a policy lets it preempt.

        A queue that is stopped or broken does not exist for Kueue's scheduler.
        """
        if policy == NEVER or queue.inactive:
            return
        needs, anyone, or_equal = self.needs, policy == ANY, policy == NEWER_EQUAL
        priority, queued = self.workload.priority, self.workload.queued
        for it in queue.workloads.values():
            if (
                (
                    anyone
                    or it.priority < priority
                    or (or_equal and it.priority == priority and it.queued > queued)
                )
                and it.admission is not None
                and not needs.isdisjoint(it.admission.pairs)
            ):
                yield it

    def order(self, candidate: QueuedWorkload) -> tuple[bool, bool, int, float, str]:
        """Sorts candidates: the evicted, those of other queues, low priorities, the newest reservations."""
        admission = candidate.admission
        at = admission.at if admission is not None else 0.0
        own = self.state.queue_of(candidate) is self.queue
        return not candidate.evicted, own, candidate.priority, -at, candidate.uid

    def spare(self, found: list[Victim], *, borrowing: bool = True) -> list[Victim]:
        """The victims without those that can stay. `found` hold no quota; afterwards all hold theirs again."""
        kept = list(found)
        for i in range(len(found) - 2, -1, -1):
            self.state.put_back(kept[i].workload)
            if self.fits(borrowing=borrowing):
                kept[i] = kept[-1]
                kept.pop()
            else:
                self.state.take_out(kept[i].workload)
        self.restore(kept)
        return kept

    def restore(self, found: list[Victim]) -> None:
        """Let the victims hold their quota again."""
        for it in found:
            self.state.put_back(it.workload)
