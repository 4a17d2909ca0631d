"""The plugin overcommit: how much is enqueued beyond what the nodes have.

Source: pkg/scheduler/plugins/overcommit of Volcano 1.14.1.
"""

from typing import Any

from policygen.simulate.volcano.amounts import add, empty, excesses, subtract
from policygen.simulate.volcano.job import VolcanoJob
from policygen.simulate.volcano.plugin import SessionPlugin
from policygen.simulate.volcano.state import VolcanoNodes

FACTOR = "overcommit-factor"
_DEFAULT = 1.2


def overcommit_factor(written: Any) -> float:
    """The factor that Volcano uses for an argument."""
    number = isinstance(written, int | float) and not isinstance(written, bool)
    return float(written) if number and written >= 1 else _DEFAULT


class OvercommitPlugin(SessionPlugin):
    """Jobs are enqueued while their minimum is within the idle resources times a factor."""

    def __init__(self, jobs: list[VolcanoJob], nodes: VolcanoNodes, factor: float) -> None:
        self.most = {name: it * factor for name, it in nodes.total.items()}
        """The most that running and enqueued jobs may request."""
        self._idle = subtract(dict(self.most), nodes.all_used)
        self._reserved = empty()
        for job in jobs:
            if job.min_resources is not None:
                add(self._reserved, job.reserved)

    def enqueue_refusal(self, job: VolcanoJob) -> str:
        """The resources of which too much is enqueued."""
        return refusal("resource in cluster is overused", "overused", self.shortages(job))

    def shortages(self, job: VolcanoJob) -> list[str]:
        """The resources of which too much is enqueued for a job."""
        return excesses(add(dict(self._reserved), job.minimum), self._idle, job.minimum)

    def left(self, resource: str) -> float:
        """The amount of a resource that is still enqueued; negative if too much is enqueued."""
        return self._idle.get(resource, 0) - self._reserved.get(resource, 0)

    def enqueued(self, job: VolcanoJob) -> None:
        """Its minimum is reserved."""
        if job.min_resources is not None:
            add(self._reserved, job.without_gated(job.minimum))


def refusal(prefix: str, verb: str, resources: list[str]) -> str:
    """A reason in Volcano's words; empty if no resource is short (FormatResourceNames)."""
    return f"{prefix}: " + ", ".join(f"{verb} {it}" for it in resources) if resources else ""
