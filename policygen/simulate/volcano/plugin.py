"""What a plugin of Volcano's scheduler can take part in.

Source: pkg/scheduler/framework/session_plugins.go of Volcano 1.14.1.
"""

from collections.abc import Mapping, Sequence

from policygen.simulate.volcano.job import VolcanoJob, VolcanoTask
from policygen.simulate.volcano.state import VolcanoQueue

FLAGS: Mapping[str, str] = {
    "queue_order": "enableQueueOrder",
    "victim_queue_order": "",
    "job_order": "enableJobOrder",
    "task_order": "enableTaskOrder",
    "job_refusal": "",
    "job_ready": "enableJobReady",
    "job_pipelined": "enableJobPipelined",
    "job_starving": "enableJobStarving",
    "enqueue_refusal": "enableJobEnqueued",
    "enqueued": "enableJobEnqueued",
    "overused": "enabledOverused",
    "preemptive": "enablePreemptive",
    "allocatable": "enabledAllocatable",
    "preemptable": "enablePreemptable",
    "reclaimable": "enableReclaimable",
}
"""The flag of each method of a plugin; empty: no flag turns it off."""


class SessionPlugin:
    """A plugin in one session. It takes part in what its class overrides, except `absent`."""

    absent: frozenset[str] = frozenset()

    def queue_order(self, one: VolcanoQueue, other: VolcanoQueue) -> float:
        """Negative if the first queue comes first, positive if the other one does."""
        raise NotImplementedError

    def victim_queue_order(
        self, one: VolcanoQueue, other: VolcanoQueue, preemptor: VolcanoQueue
    ) -> int:
        """The same, for the queues from which victims are taken."""
        raise NotImplementedError

    def job_order(self, one: VolcanoJob, other: VolcanoJob) -> float:
        """The same for jobs of one queue."""
        raise NotImplementedError

    def task_order(self, one: VolcanoTask, other: VolcanoTask) -> int:
        """The same for tasks."""
        raise NotImplementedError

    def job_refusal(self, job: VolcanoJob) -> str:
        """Why a job cannot be scheduled at all; empty: it can."""
        raise NotImplementedError

    def job_ready(self, job: VolcanoJob) -> bool:
        """Whether the nodes of its tasks are final."""
        raise NotImplementedError

    def job_pipelined(self, job: VolcanoJob) -> bool:
        """Whether it starts as soon as other pods leave."""
        raise NotImplementedError

    def job_starving(self, job: VolcanoJob) -> bool:
        """Whether pods may be evicted for it."""
        raise NotImplementedError

    def enqueue_refusal(self, job: VolcanoJob) -> str | None:
        """Why it is not enqueued; empty: it is; None: no vote."""
        raise NotImplementedError

    def enqueued(self, job: VolcanoJob) -> None:
        """A job was enqueued."""
        raise NotImplementedError

    def overused(self, queue: VolcanoQueue) -> bool:
        """Whether a queue gets no more in this session."""
        raise NotImplementedError

    def preemptive(self, queue: VolcanoQueue, task: VolcanoTask) -> bool:
        """Whether a queue may reclaim resources for a task."""
        raise NotImplementedError

    def allocatable(self, queue: VolcanoQueue, task: VolcanoTask) -> bool:
        """Whether a queue may use what a task requests."""
        raise NotImplementedError

    def preemptable(
        self, preemptor: VolcanoTask, tasks: Sequence[VolcanoTask]
    ) -> list[VolcanoTask]:
        """The tasks that a task of the same queue may evict."""
        raise NotImplementedError

    def reclaimable(
        self, reclaimer: VolcanoTask, tasks: Sequence[VolcanoTask]
    ) -> list[VolcanoTask]:
        """The tasks that a task of another queue may evict."""
        raise NotImplementedError

    def allocated(self, task: VolcanoTask) -> None:
        """A task got a node."""

    def deallocated(self, task: VolcanoTask) -> None:
        """A task gave its node up, or is evicted."""
