"""Pods on nodes, as all schedulers see them."""

from collections import Counter

from policygen.simulate.kueue.scheduler import Scheduler
from policygen.simulate.over_time.agenda import Agenda
from policygen.simulate.over_time.job_run import JobRun
from policygen.simulate.over_time.observer import Observer
from policygen.simulate.placement.scheduler import KubeScheduler
from policygen.simulate.placement.shape import PodShape
from policygen.simulate.volcano.scheduler import VolcanoScheduler


class NodeBindings:
    """Tells Kueue and Volcano about pods on nodes."""

    def __init__(
        self,
        agenda: Agenda,
        observer: Observer,
        kueue: Scheduler | None,
        kube: KubeScheduler | None,
        volcano: VolcanoScheduler | None,
    ) -> None:
        self._agenda, self._observer = agenda, observer
        self._kueue, self._kube, self._volcano = kueue, kube, volcano
        self.left = 0
        """How many pods have left their nodes until now."""
        self.full: set[PodShape] = set()
        """Shapes for which no node had room since pods of jobs last ended."""
        self._priorities: Counter[int] = Counter()
        """Of the pods on nodes."""
        self._jobs: dict[int, JobRun] = {}
        """Those with pods on nodes, by their index."""

    @property
    def jobs(self) -> list[JobRun]:
        """The jobs with pods on nodes, in the order of all jobs."""
        return [self._jobs[it] for it in sorted(self._jobs)]

    def has_lower(self, priority: int) -> bool:
        """Whether pods with a lower priority are on nodes."""
        return any(count and it < priority for it, count in self._priorities.items())

    def by_volcano(self, job: JobRun) -> bool:
        """Whether Volcano schedules a job: it has a queue, which exists."""
        gang = job.arrival.gang
        return (
            self._volcano is not None
            and gang is not None
            and gang.queue in self._volcano.state.queues
        )

    def bind(self, job: JobRun, shape: PodShape, node: int) -> None:
        """A pod is on a node, which kube-scheduler knows."""
        if not job.bound:
            self._jobs[job.index] = job
        job.bound.append((shape, node))
        if self._volcano is not None and not self.by_volcano(job):
            self._volcano.state.nodes.hold(node, shape, 1)
        self._hold(job, shape, node, 1)
        self._priorities[job.arrival.priority] += 1
        self._observer.binds(self._agenda.now, job, shape, node, 1)

    def unbind(self, job: JobRun, shape: PodShape, node: int) -> None:
        """A pod leaves its node."""
        job.bound.remove((shape, node))
        if not job.bound:
            del self._jobs[job.index]
        self._leaves(job, shape, node)

    def unbind_all(self, job: JobRun) -> None:
        """All pods of a job end."""
        for shape, node in job.bound:
            self._leaves(job, shape, node)
        if job.bound:
            self.full.clear()
            del self._jobs[job.index]
        job.bound = []

    def _leaves(self, job: JobRun, shape: PodShape, node: int) -> None:
        if self._kube is not None:
            self._kube.remove(shape, node)
        self.left += 1
        if self._volcano is not None and not self.by_volcano(job):
            self._volcano.state.nodes.hold(node, shape, -1)
        self._hold(job, shape, node, -1)
        self._priorities[job.arrival.priority] -= 1
        self._observer.binds(self._agenda.now, job, shape, node, -1)

    def _hold(self, job: JobRun, shape: PodShape, node: int, sign: int) -> None:
        """Kueue's topologies count pods that Kueue did not place there."""
        if self._kueue is None or self._kube is None or not self._kueue.state.topologies:
            return
        if job.arrival.is_outside_topologies:
            self._kueue.hold(self._kube.nodes.all[node].name, shape.requests, sign)
