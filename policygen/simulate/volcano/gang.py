"""The plugins that look at jobs: gang, priority, conformance, drf.

Source: pkg/scheduler/plugins/{gang,priority,conformance,drf} of Volcano 1.14.1.
"""

from collections import Counter
from collections.abc import Sequence

from policygen.simulate.volcano.amounts import Amounts, add, names, share, subtract
from policygen.simulate.volcano.job import VolcanoJob, VolcanoTask
from policygen.simulate.volcano.plugin import SessionPlugin

_SHARE_DELTA = 0.000001


class GangPlugin(SessionPlugin):
    """All tasks of a gang start, or none."""

    def job_order(self, one: VolcanoJob, other: VolcanoJob) -> int:
        """Jobs that are not ready come first."""
        return one.ready - other.ready

    def job_refusal(self, job: VolcanoJob) -> str:
        """Too few pods exist."""
        if not job.roles_valid:
            return "Not enough valid pods of each task for gang-scheduling"
        if job.valid_count < job.min_available:
            return (
                f"Not enough valid tasks for gang-scheduling, valid: {job.valid_count}, "
                f"min: {job.min_available}"
            )
        return ""

    def job_ready(self, job: VolcanoJob) -> bool:
        """Enough tasks have a node."""
        return job.roles_ready and job.ready

    def job_pipelined(self, job: VolcanoJob) -> bool:
        """Enough tasks have a node, or wait for one."""
        return job.roles_pipelined and job.pipelined

    def job_starving(self, job: VolcanoJob) -> bool:
        """Too few tasks have a node or wait for one."""
        return job.starving

    def _spare(self, tasks: Sequence[VolcanoTask]) -> list[VolcanoTask]:
        """The tasks without which their jobs still have enough."""
        left: Counter[VolcanoJob] = Counter()
        found = []
        for it in tasks:
            if it.job not in left:
                left[it.job] = it.job.ready_count
            if left[it.job] > it.job.min_available:
                left[it.job] -= 1
                found.append(it)
        return found

    def preemptable(
        self,
        preemptor: VolcanoTask,  # noqa: ARG002 - of the protocol
        tasks: Sequence[VolcanoTask],
    ) -> list[VolcanoTask]:
        """Tasks above the minimum of their gang."""
        return self._spare(tasks)

    def reclaimable(
        self,
        reclaimer: VolcanoTask,  # noqa: ARG002 - of the protocol
        tasks: Sequence[VolcanoTask],
    ) -> list[VolcanoTask]:
        """The same."""
        return self._spare(tasks)


class PriorityPlugin(SessionPlugin):
    """The priority of jobs and tasks."""

    def task_order(self, one: VolcanoTask, other: VolcanoTask) -> int:
        """By the priority of the pods."""
        return other.priority - one.priority

    def job_order(self, one: VolcanoJob, other: VolcanoJob) -> int:
        """By the priority of the PodGroups."""
        return other.priority - one.priority

    def job_starving(self, job: VolcanoJob) -> bool:
        """Some tasks have no node."""
        return job.ready_count + job.waiting_count < len(job.tasks)

    def preemptable(
        self, preemptor: VolcanoTask, tasks: Sequence[VolcanoTask]
    ) -> list[VolcanoTask]:
        """Tasks of jobs with a lower priority, and of the same job those with a lower priority."""
        return [
            it
            for it in tasks
            if (
                it.job.priority < preemptor.job.priority
                if it.job is not preemptor.job
                else it.priority < preemptor.priority
            )
        ]


class ConformancePlugin(SessionPlugin):
    """Pods of the system stay."""

    def preemptable(
        self,
        preemptor: VolcanoTask,  # noqa: ARG002 - of the protocol
        tasks: Sequence[VolcanoTask],
    ) -> list[VolcanoTask]:
        """Pods that are not of the system."""
        return [it for it in tasks if not it.protected]

    def reclaimable(
        self,
        reclaimer: VolcanoTask,  # noqa: ARG002 - of the protocol
        tasks: Sequence[VolcanoTask],
    ) -> list[VolcanoTask]:
        """The same."""
        return [it for it in tasks if not it.protected]


class DrfPlugin(SessionPlugin):
    """The job whose largest share of a resource is the smallest comes first."""

    def __init__(self, jobs: Sequence[VolcanoJob], total: Amounts) -> None:
        self._total = total
        self._names = names(total)
        self._allocated: dict[VolcanoJob, Amounts] = {}
        self._shares: dict[VolcanoJob, float] = {}
        for job in jobs:
            self._allocated[job] = dict(job.allocated)
            self._shares[job] = self._share(job.allocated)

    def _share(self, allocated: Amounts) -> float:
        return max((share(allocated.get(it, 0), self._total[it]) for it in self._names), default=0)

    def job_order(self, one: VolcanoJob, other: VolcanoJob) -> float:
        """By their shares."""
        return self._shares[one] - self._shares[other]

    def preemptable(
        self, preemptor: VolcanoTask, tasks: Sequence[VolcanoTask]
    ) -> list[VolcanoTask]:
        """Tasks of jobs that keep at least the share that the preemptor's job will have."""
        mine = self._share(add(dict(self._allocated[preemptor.job]), preemptor.requests))
        left: dict[VolcanoJob, Amounts] = {}
        found = []
        for it in tasks:
            if it.job not in left:
                left[it.job] = dict(self._allocated[it.job])
            theirs = self._share(subtract(left[it.job], it.requests))
            if mine < theirs or abs(mine - theirs) <= _SHARE_DELTA:
                found.append(it)
        return found

    def allocated(self, task: VolcanoTask) -> None:
        """The share of its job grows."""
        self._shares[task.job] = self._share(add(self._allocated[task.job], task.requests))

    def deallocated(self, task: VolcanoTask) -> None:
        """The share of its job shrinks."""
        self._shares[task.job] = self._share(subtract(self._allocated[task.job], task.requests))
