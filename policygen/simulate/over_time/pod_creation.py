"""The pods that controllers create, as far as ResourceQuotas allow it."""

from collections.abc import Iterator

from msgspec import Struct

from policygen.simulate.arrival import PodBatch
from policygen.simulate.over_time.gated_pods import GatedPods
from policygen.simulate.over_time.job_run import JobRun
from policygen.simulate.over_time.node_queue import NodeQueue
from policygen.simulate.over_time.rejected_pods import RejectedPods
from policygen.simulate.over_time.starts import JobStarts
from policygen.simulate.placement.shape import PodShape
from policygen.simulate.pod_quotas import PodQuotas, existing


class RefusedPods(Struct, frozen=True, eq=False):
    """Pods of a job that a ResourceQuota refuses."""

    job: JobRun
    round: int
    """That of the job; at another one, they are not wanted any more."""
    batch: PodBatch
    shape: PodShape | None
    """That of admitted pods, if they need a known node."""
    count: int


class PodCreation:
    """Creates pods, and lets them go to nodes."""

    def __init__(
        self,
        quotas: PodQuotas | None,
        starts: JobStarts,
        gated: GatedPods,
        rejected: RejectedPods | None,
        node_queue: NodeQueue | None,
    ) -> None:
        """Without `rejected` and `node_queue`, nodes are not known."""
        self._quotas, self._starts, self._gated = quotas, starts, gated
        self._rejected, self._node_queue = rejected, node_queue
        self._refused: list[RefusedPods] = []
        self._freed = False
        """Whether pods ended that ResourceQuotas count."""

    def adopt(self, job: JobRun) -> None:
        """Take over the pods that exist from the start."""
        if self._quotas:
            job.created = list(existing(job.arrival))
            job.ahead = sum(count for _, count in job.created)

    def create(self, job: JobRun, batch: PodBatch, shape: PodShape | None, count: int) -> None:
        """Create pods of an admitted job, as far as ResourceQuotas allow it."""
        room = self._room(job, batch, count)
        job.short += count - room
        count = room
        created = self._take(job, batch, count)
        if created < count:
            job.unbound += count - created
            self._refused.append(RefusedPods(job, job.round, batch, shape, count - created))
        self.go_to_node(job, batch, shape, created)

    def create_queued(self, job: JobRun) -> bool:
        """Create the pods of which Kueue makes its Workload; false: a ResourceQuota refuses some."""
        for it in job.arrival.pods:
            created = self._take(job, it, it.count)
            if created < it.count:
                self._refused.append(RefusedPods(job, job.round, it, None, it.count - created))
        return not any(it.job is job for it in self._refused)

    def go_to_node(self, job: JobRun, batch: PodBatch, shape: PodShape | None, count: int) -> None:
        """Pods exist, and wait for the removal of their gates or for a node."""
        if not count:
            return
        if batch.gates:
            self._gated.add(job, batch, shape, count)
        elif shape is not None and self._rejected is not None and shape.demand.node_name:
            self._rejected.run(job, shape, count)
        elif shape is not None and self._node_queue is not None:
            for _ in range(count):
                self._node_queue.add(job, shape)

    @property
    def can_create(self) -> bool:
        """Whether refused pods may have room now, since others ended."""
        return self._freed and bool(self._refused)

    def create_refused(self) -> list[JobRun]:
        """Try again to create pods. Returns the jobs of which all pods exist now that Kueue makes Workloads of."""
        self._freed = False
        refused, self._refused = self._refused, []
        for it in refused:
            if it.round != it.job.round:
                continue
            if it.job.active:
                it.job.unbound -= it.count
                self.create(it.job, it.batch, it.shape, it.count)
                if not it.job.unbound:
                    self._starts.start(it.job)
                continue
            left = it.count - self._take(it.job, it.batch, it.count)
            if left:
                self._refused.append(RefusedPods(it.job, it.round, it.batch, None, left))
        missing = {it.job for it in self._refused}
        complete = {it.job for it in refused if not it.job.active} - missing
        return sorted(complete, key=lambda it: it.index)

    def refused_pods(self, job: JobRun) -> Iterator[tuple[PodBatch, int]]:
        """The pods of a job that ResourceQuotas refuse, and their number."""
        for it in self._refused:
            if it.job is job and it.round == job.round:
                yield it.batch, it.count

    def delete(self, job: JobRun) -> None:
        """ResourceQuotas do not count the pods of a job any more."""
        for spec, count in job.created if self._quotas else ():
            self._freed = True
            if self._quotas:
                self._quotas.release(job.arrival.namespace, spec, count)
        job.created.clear()
        job.ahead = 0

    def _room(self, job: JobRun, batch: PodBatch, count: int) -> int:
        """How many pods a ResourceQuota ever allows beside the others of the job, which runs without the rest.

        A job of Kueue or Volcano starts with all its pods, so it waits for the rest.
        """
        together = job.workload is not None or job.arrival.gang is not None
        if not self._quotas or together or len(job.arrival.pods) != 1:
            return count
        made = sum(number for _, number in job.created)
        most = self._quotas.most(job.arrival.namespace, batch.spec, made + count)
        return max(most - made, 0) if most else count

    def _take(self, job: JobRun, batch: PodBatch, count: int) -> int:
        """How many pods ResourceQuotas let it create."""
        if not self._quotas:
            return count
        known = min(max(job.ahead, 0), count)
        job.ahead -= known
        created = self._quotas.create(job.arrival.namespace, batch.spec, count - known)
        if created:
            job.created.append((batch.spec, created))
        return known + created
