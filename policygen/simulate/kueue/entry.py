"""One workload in one scheduling cycle."""

from enum import Enum

from msgspec import Struct, field

from policygen.simulate.kueue.assignment import FlavorAssignment, Mode
from policygen.simulate.kueue.queue import ANY, SimulatedQueue
from policygen.simulate.kueue.topology import Leaf
from policygen.simulate.kueue.victims import Victim
from policygen.simulate.kueue.workload import LastAssignment, QueuedWorkload


class Outcome(Enum):
    """What a cycle did with a workload."""

    ADMITTED = "admitted"
    PREEMPTING = "preempting"
    """It waits for its victims to leave."""
    NO_CANDIDATES = "no-candidates"
    """It would fit without some workloads, but may not preempt them."""
    NO_FIT = "no-fit"
    OVERLAP = "overlap"
    """Another workload preempts the same victims."""
    NO_LONGER_FITS = "no-longer-fits"
    """An earlier workload of the cycle took its quota."""
    REFUSED = "refused"
    """Its namespace or its requests are not admissible."""
    OTHER_NAMESPACE = "other-namespace"


class EntryDecision(Struct, frozen=True):
    """What a cycle decided about a workload."""

    outcome: Outcome
    message: str
    usage: frozenset[tuple[int, int]]
    domains: frozenset[tuple[str, Leaf, int]]
    """Pods by pod set and domain."""
    targets: tuple[Victim, ...]

    @property
    def effect(self) -> object:
        """What is the same if only the reason of the wait differs."""
        if self.outcome in (Outcome.ADMITTED, Outcome.PREEMPTING):
            return (
                self.outcome,
                self.usage,
                self.domains,
                frozenset((it.workload.name, it.reason) for it in self.targets),
            )
        return None


_NOTHING = FlavorAssignment()
"""That of a workload that is not tried."""


class CycleEntry(Struct, eq=False):
    """A workload that a cycle tries, and what becomes of it."""

    workload: QueuedWorkload
    queue: SimulatedQueue
    before: LastAssignment | None = None
    """Where its scan of flavors ended before the cycle."""
    assignment: FlavorAssignment = field(default_factory=lambda: _NOTHING)
    targets: list[Victim] = field(default_factory=list)
    outcome: Outcome = Outcome.NO_FIT
    message: str = ""
    tied: bool = False
    """Its victims depend on a tie."""
    nominated: tuple[FlavorAssignment, list[Victim]] | None = None
    """Flavors and victims before the first entry of the cycle was processed."""

    @property
    def chosen_again(self) -> bool:
        """Whether its flavors or domains are others than before the first entry, which took them."""
        return self.nominated is not None and self.assignment is not self.nominated[0]

    @property
    def passive(self) -> bool:
        """Whether it can neither start nor hold quota back, so that its place in the order has no effect."""
        mode = self.assignment.mode
        if mode is Mode.NO_FIT:
            return True
        if self.assignment.placements:
            return False  # they are chosen again if earlier entries took them
        return mode < Mode.FIT and not self.targets and self.queue.reclaim_within_cohort == ANY

    @property
    def decision(self) -> EntryDecision:
        """What was decided."""
        assignment = self.assignment
        return EntryDecision(
            self.outcome,
            self.message,
            frozenset(assignment.usage.items()),
            frozenset(
                (name, leaf, count)
                for name, it in assignment.placements.items()
                for leaf, count in it.pods.items()
            ),
            tuple(self.targets),
        )
