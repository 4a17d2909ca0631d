"""What learns of the events of a simulation."""

from policygen.simulate.over_time.job_run import JobRun
from policygen.simulate.placement.shape import PodShape


class Observer:
    """Learns what happens. All methods do nothing here."""

    def holds(self, now: float, job: JobRun) -> None:
        """A job holds quota, or nodes, from now on."""

    def frees(self, now: float, job: JobRun) -> None:
        """It does not any more. Its admission is still set."""

    def binds(self, now: float, job: JobRun, shape: PodShape, node: int, count: int) -> None:
        """A pod of it is bound to a node (count is 1), or ends (-1)."""

    def passes(self, now: float) -> None:
        """All that happens at a time has happened."""
