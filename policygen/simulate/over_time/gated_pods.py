"""Pods that scheduling gates hold."""

from math import inf

from policygen.simulate.arrival import PodBatch
from policygen.simulate.assumptions import Assumptions
from policygen.simulate.over_time.agenda import Agenda, TimelineEvent
from policygen.simulate.over_time.job_run import JobRun
from policygen.simulate.over_time.node_queue import NodeQueue
from policygen.simulate.over_time.starts import JobStarts
from policygen.simulate.placement.shape import PodShape


class GatedPods:
    """Removes the gates of pods as it is assumed; other gates stay."""

    def __init__(
        self,
        agenda: Agenda,
        assumptions: Assumptions,
        starts: JobStarts,
        node_queue: NodeQueue | None,
    ) -> None:
        self._agenda, self._assumptions = agenda, assumptions
        self._starts, self._node_queue = starts, node_queue

    def add(self, job: JobRun, batch: PodBatch, shape: PodShape | None, count: int) -> None:
        """New pods of a job have gates."""
        job.unbound += count
        after = self._assumptions.opened(batch.gates)
        opens = inf if after is None else self._agenda.now + after
        job.gated.setdefault(batch.name, []).extend([(opens, shape)] * count)
        if after is not None:
            self._agenda.later(after, TimelineEvent.GATE, job.index, batch.name, job.round)

    def open(self, job: JobRun, batch: str) -> None:
        """Pods of a job whose gates are removed now may go to nodes."""
        now = self._agenda.now
        held = job.gated.pop(batch, [])
        later = [it for it in held if it[0] > now]
        if later:
            job.gated[batch] = later
        if len(later) == len(held):
            return
        if job.started is None and not later and job.unbound == len(held):
            self._agenda.last = now  # else the same waits can repeat without end
        for shape in (shape for opens, shape in held if opens <= now):
            job.unbound -= 1
            if shape is not None and self._node_queue is not None:
                self._node_queue.add(job, shape)
        if not job.unbound:
            self._starts.start(job)
