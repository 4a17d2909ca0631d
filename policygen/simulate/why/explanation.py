"""Why a workload waits and what would let it run, as data."""

from msgspec import Struct

from policygen.simulate.result import JobState
from policygen.simulate.why.causes import Cause, CauseKind
from policygen.simulate.why.history import Preempted
from policygen.simulate.why.remedy import Remedy
from policygen.simulate.why.start import Start


class Explanation(Struct, frozen=True, eq=False):
    """Why one workload waits, and what would let it run."""

    name: str
    """Namespace and name of the object that the user created."""
    kind: str
    team: str
    cause: Cause
    remedies: tuple[Remedy, ...] = ()
    later: tuple[Remedy, ...] = ()
    """If no change lets its pods run now: changes with which it starts when others have ended."""
    ends: tuple[str, ...] = ()
    """Workloads whose end admits it, too."""
    start: Start | None = None
    """When it starts, if an autoscaler adds nodes; None: it is not known, or no pool grows."""
    tried: int = 0
    """How many changes were tried."""
    place: str = ""
    """File and line of its object: `jobs.yaml:12`; empty: it is in no file."""
    preempted: tuple[Preempted, ...] = ()
    """Its past preemptions that the cluster still knows."""
    admission: tuple[str, ...] = ()
    """The flavors that it has, or would get now."""
    either: bool = False
    """Whether a tie decides that it can run now, so that Kueue may decide otherwise."""
    otherwise: tuple[JobState | None, ...] = ()
    """What it does at this time with other random choices of the schedulers, if that differs."""
    equal: tuple[str, ...] = ()
    """The names of equal jobs that wait for the same reason, after it."""
    for_equal: tuple[Remedy, ...] = ()
    """Changes with which equal jobs start, too."""
    started: int = 0
    """How many of the jobs, with this one, start with each of these changes."""

    @property
    def waits(self) -> bool:
        """Whether something keeps it from running."""
        return self.cause.kind not in (CauseKind.ADMITTED, CauseKind.ADMISSIBLE)
