"""Pods that wait for a node of kube-scheduler."""

import heapq
from collections import deque
from collections.abc import Iterator

from policygen.simulate.over_time.agenda import Agenda
from policygen.simulate.over_time.bindings import NodeBindings
from policygen.simulate.over_time.gang_runs import GangRuns
from policygen.simulate.over_time.job_run import JobRun
from policygen.simulate.over_time.livelocks import Livelocks
from policygen.simulate.over_time.starts import JobStarts
from policygen.simulate.placement.preemption import RunningPod, best, preemptions
from policygen.simulate.placement.scheduler import KubeScheduler
from policygen.simulate.placement.shape import PodShape
from policygen.simulate.result import POD_PRIORITY


class NodeQueue:
    """Binds pods to nodes: those of a high priority first, then those that wait the longest."""

    def __init__(  # noqa: PLR0913 - what else knows about pods
        self,
        kube: KubeScheduler,
        *,
        agenda: Agenda,
        livelocks: Livelocks,
        starts: JobStarts,
        bindings: NodeBindings,
        gangs: GangRuns | None,
    ) -> None:
        self._kube = kube
        self._agenda, self._livelocks = agenda, livelocks
        self._starts, self._bindings, self._gangs = starts, bindings, gangs
        self._pods: dict[tuple[int, PodShape], deque[tuple[int, JobRun, int]]] = {}
        """By priority and shape: a number in their order, the job and its round."""
        self._number = 0

    def add(self, job: JobRun, shape: PodShape) -> None:
        """A pod of a job waits."""
        job.unbound += 1
        self._number += 1
        pods = self._pods.setdefault((job.arrival.priority, shape), deque())
        pods.append((self._number, job, job.round))

    def shapes(self) -> Iterator[tuple[PodShape, int]]:
        """The shapes of pods that wait, and their number."""
        for (_, shape), pods in self._pods.items():
            count = sum(job.round == round_ for _, job, round_ in pods)
            if count:
                yield shape, count

    def in_order(self) -> Iterator[tuple[PodShape, int]]:
        """The same, those of a high priority first, then those that wait the longest."""
        for _, _, shape, count in sorted(
            (-priority, pods[0][0], shape, count)
            for (priority, shape), pods in self._pods.items()
            if (count := sum(job.round == round_ for _, job, round_ in pods))
        ):
            yield shape, count

    def shapes_of(self, job: JobRun) -> Iterator[tuple[PodShape, int]]:
        """The shapes of pods of a job that wait, and their number."""
        for (_, shape), pods in self._pods.items():
            count = sum(it is job and round_ == job.round for _, it, round_ in pods)
            if count:
                yield shape, count

    def place(self) -> None:
        """Bind pods as long as nodes have room."""
        if not self._pods:
            return
        full = self._bindings.full
        order = [
            (-priority, pods[0][0], shape)
            for (priority, shape), pods in self._pods.items()
            if shape not in full
        ]
        heapq.heapify(order)
        while order:
            lower, _, shape = heapq.heappop(order)
            pods = self._pods[-lower, shape]
            _, job, round_ = pods[0]
            if job.round == round_ and not self._bind(job, shape):
                full.add(shape)
                continue
            pods.popleft()
            if pods:
                heapq.heappush(order, (lower, pods[0][0], shape))
            else:
                del self._pods[-lower, shape]

    def _bind(self, job: JobRun, shape: PodShape) -> bool:
        """Bind one pod; false if no node has room, even without pods of a lower priority."""
        found = self._kube.place(shape)
        if found is None and self._make_room(job, shape):
            found = self._kube.place(shape)
        if found is None:
            return False
        self._bindings.bind(job, shape, found.node)
        job.unbound -= 1
        if not job.unbound:
            self._starts.start(job)
        return True

    def _make_room(self, job: JobRun, shape: PodShape) -> bool:
        """Evict pods of a lower priority, if that gives the pod room on a node."""
        own = job.arrival.priority
        if not job.arrival.preempts or not self._bindings.has_lower(own):
            return False
        running: dict[int, list[RunningPod]] = {}
        owners: dict[str, JobRun] = {}
        for other in self._bindings.jobs:
            for i, (pod, node) in enumerate(other.bound):
                name = f"{other.index}/{i}"
                owners[name] = other
                started = other.since if other.running else self._agenda.now
                running.setdefault(node, []).append(
                    RunningPod(name, pod, other.arrival.priority, started)
                )
        choice = best(preemptions(self._kube, shape, own, running))
        if not choice:
            return False
        job.either = job.either or len(choice) > 1
        for victim in choice[0].victims:
            other = owners[victim.name]
            self._livelocks.preempts(self._agenda.now, job, other, POD_PRIORITY)
            self._loses(other, victim.shape, choice[0].node)
        return True

    def _loses(self, job: JobRun, shape: PodShape, node: int) -> None:
        """A pod is evicted from its node. Its controller creates it again, and the job begins again."""
        if self._gangs is not None and self._bindings.by_volcano(job):
            self._gangs.loses(job, shape, node)
            return
        self._bindings.unbind(job, shape, node)
        if job.running:  # so none of its pods waits under the old round
            self._starts.untime(job)
            job.stops(self._agenda.now)
            job.round += 1
        self.add(job, shape)
