"""The pods of a job: created when it is admitted, on nodes from the start, and gone when it leaves."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from policygen.simulate.arrival import PodBatch
from policygen.simulate.kueue.scheduler import Scheduler
from policygen.simulate.over_time.agenda import Agenda
from policygen.simulate.over_time.bindings import NodeBindings
from policygen.simulate.over_time.job_run import JobRun, Shapes
from policygen.simulate.over_time.observer import Observer
from policygen.simulate.over_time.pod_creation import PodCreation
from policygen.simulate.over_time.starts import JobStarts
from policygen.simulate.placement.scheduler import KubeScheduler
from policygen.simulate.placement.shape import PodShape


class JobPods:
    """Creates the pods of jobs that are admitted, and ends them."""

    def __init__(  # noqa: PLR0913 - all that pods need to run
        self,
        shapes: Shapes,
        *,
        agenda: Agenda,
        observer: Observer,
        kueue: Scheduler | None,
        starts: JobStarts,
        bindings: NodeBindings,
        creation: PodCreation,
    ) -> None:
        self._shapes, self._agenda, self._observer = shapes, agenda, observer
        self._kueue = kueue
        self._starts, self._bindings, self._creation = starts, bindings, creation

    def admit(self, job: JobRun) -> None:
        """The pods of a job are created."""
        if job.admitted is None:
            job.admitted = self._agenda.now
        job.active = True
        job.reason = job.message = ""
        if job.arrival.unscheduled:
            job.unbound = sum(it.count for it in job.arrival.pods)
            job.reason = "NeverStarts"
            job.message = f"no scheduler has the name {job.arrival.unscheduled}"
            return
        exist = job.arrival.is_of_pods
        create = self._creation.go_to_node if exist else self._creation.create
        for batch in job.arrival.pods:
            for labels, count in self._domains(job, batch):
                flavors = job.flavors(batch.name)
                create(job, batch, self._shapes(job.arrival, batch, flavors, labels), count)
        if not job.unbound:
            self._starts.start(job)

    def resume(self, job: JobRun, kube: KubeScheduler | None) -> None:
        """A job was admitted before the start of the simulation, or has nodes."""
        arrival, workload = job.arrival, job.workload
        at = arrival.at if workload is None or workload.admission is None else workload.admission.at
        job.admitted, job.round, job.active = at, 1, True
        if kube is not None:
            for batch, shape, node in self._resumed(job):
                found = kube.nodes.index.get(node)
                if shape is not None and found is not None:
                    kube.bind(shape, found)
                    self._bindings.bind(job, shape, found)
                elif not node and job.arrival.gang is not None:
                    job.unbound += 1  # no scheduler takes it, because its queue is not known
                elif not node:
                    self._creation.create(job, batch, shape, 1)
                job.ahead -= bool(node)
        job.since = arrival.at
        self._observer.holds(self._agenda.now, job)
        job.lasts = arrival.duration if arrival.left is None else arrival.left
        if not job.unbound:
            job.starts(at, *job.size)
            self._starts.end_later(job)

    def leave(self, job: JobRun) -> None:
        """All pods of a job end. ResourceQuotas still count them."""
        self._observer.frees(self._agenda.now, job)
        self._bindings.unbind_all(job)
        job.unbound = job.short = 0
        job.done.clear()
        job.gated.clear()
        job.rejected.clear()
        job.round += 1
        job.active = job.running = False

    def shapes_of(self, job: JobRun, batch: PodBatch) -> Iterator[tuple[PodShape, int]]:
        """The shapes of admitted pods that need a known node, and the number of each."""
        for labels, count in self._domains(job, batch):
            shape = self._shapes(job.arrival, batch, job.flavors(batch.name), labels)
            if shape is not None:
                yield shape, count

    def _resumed(self, job: JobRun) -> Iterator[tuple[PodBatch, PodShape | None, str]]:
        """The shapes of all pods of a job that was admitted before, and their nodes; empty: none yet."""
        nodes = iter(job.arrival.nodes)
        for batch in job.arrival.pods:
            flavors, admitted = job.flavors(batch.name), job.admitted_set(batch.name)
            bound = self._shapes(job.arrival, batch, flavors, {})
            count = batch.count if admitted is None else admitted.count
            own = [next(nodes, "") for _ in range(count)]
            left = (
                labels for labels, missing in self._domains(job, batch, own) for _ in range(missing)
            )
            for node in own:
                if node:
                    yield batch, bound, node
                else:
                    yield batch, self._shapes(job.arrival, batch, flavors, next(left, {})), node

    def _domains(
        self, job: JobRun, batch: PodBatch, nodes: Iterable[str] = ()
    ) -> Iterator[tuple[Mapping[str, str], int]]:
        """The labels of the topology domains of pods, and the number of pods in each.

        Pods on `nodes` are not counted.
        """
        admitted = job.admitted_set(batch.name)
        placement = admitted.placement if admitted is not None else None
        if placement is None or self._kueue is None:
            yield {}, batch.count if admitted is None else admitted.count
            return
        topology = self._kueue.state.topologies[placement.flavor]
        bound = Counter(topology.leaf_of(it) for it in nodes)
        for leaf, count in placement.pods.items():
            yield topology.selector(leaf), count - bound[leaf]
