"""One workload in one scheduling cycle."""

from dataclasses import dataclass, field
from enum import Enum

from policygen.simulate.kueue.assignment import FlavorAssignment
from policygen.simulate.kueue.queue import SimulatedQueue
from policygen.simulate.kueue.victims import Victim
from policygen.simulate.kueue.workload import QueuedWorkload


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


@dataclass(slots=True, eq=False)
class CycleEntry:
    """A workload that a cycle tries, and what becomes of it."""

    workload: QueuedWorkload
    queue: SimulatedQueue
    assignment: FlavorAssignment = field(default_factory=FlavorAssignment)
    targets: list[Victim] = field(default_factory=list)
    outcome: Outcome = Outcome.NO_FIT
    message: str = ""
