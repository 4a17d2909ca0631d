"""Jobs that Kueue never admits beside the others of the input, although it would admit each alone.

Found by a simulation of Kueue 0.19. Nodes are not simulated. Pods of kinds such as Deployment start first and
do not end. Other jobs end after some time.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from policygen.kubernetes.kueue import ClusterQueueView
from policygen.kubernetes.kueue_jobs import DEFAULT_QUEUE, managed, queued
from policygen.kubernetes.namespaces import selects
from policygen.kubernetes.object import Object
from policygen.kubernetes.table import Entry
from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.configuration import settings
from policygen.lint.rule import Facts, NotEvaluatedError

if TYPE_CHECKING:  # most inputs need no simulation
    from policygen.simulate.arrival import Arrival
    from policygen.simulate.kueue.queue import SimulatedQueue
    from policygen.simulate.kueue.state import QueueState
    from policygen.simulate.kueue.workload import QueuedWorkload
    from policygen.simulate.scene import Scene
    from policygen.simulate.timeline import JobRun

READS: Final = (
    "AdmissionCheck", "Cohort", "Configuration", "LimitRange", "LocalQueue", "Namespace", "PodGroup",
    "PriorityClass", "Queue", "ResourceFlavor", "RuntimeClass", "Topology", "Workload",
    "WorkloadPriorityClass", *KINDS,
)  # fmt: skip
"""The kinds that `stuck_jobs` reads, besides ClusterQueues."""
PARTIAL: Final = ("LowerPriority", "LowerOrNewerEqualPriority")
"""Policies that let a queue reclaim its quota from some workloads only."""
STRICT: Final = "StrictFIFO"
_MOST_JOBS = 1_000
_MOST_EVENTS = 5_000
_JOB_S = 3600.0
_MOST_CYCLES = 20
"""In which a job that is alone tries all flavors."""


class StuckJob(Struct, frozen=True, eq=False):
    """A job that never starts."""

    owner: Object
    """The object that a user created."""
    amounts: Mapping[int, int]
    """What it uses if it is alone, by the index of flavor and resource."""


class StuckQueue(Struct, frozen=True, eq=False):
    """A queue with such jobs, at the end of the simulation."""

    entry: Entry[ClusterQueueView]
    queue: "SimulatedQueue"
    jobs: tuple[StuckJob, ...]
    """In the order in which Kueue tries them."""
    first: Object | None
    """The job that Kueue tries first, also if it never starts alone."""
    state: "QueueState"
    owners: Mapping[str, Object]
    """The objects of all workloads, by the name of the workload."""


class UnreclaimedQuota(Struct, frozen=True, eq=False):
    """Quota of a queue that others borrow, and that it does not take back."""

    job: StuckJob
    """The job that needs it."""
    pair: int
    """The index of its flavor and resource."""
    borrowers: Sequence[Object]


def stuck_jobs(facts: Facts) -> Sequence[StuckQueue]:
    """The queues with jobs that never start, by name; use it with `facts.derive`.

    Only inputs are simulated in which a queue can reclaim its quota only in part, or is StrictFIFO. Raises
    NotEvaluatedError for an input with too many jobs.
    """
    cluster = facts.cluster
    if not any(map(_can_block, cluster.cluster_queues)) or not _has_jobs(facts):
        return ()
    count = len(cluster.workloads) + sum(1 for _ in cluster.kueue_workloads) + len(cluster.pods)
    if count > _MOST_JOBS:
        raise NotEvaluatedError(
            f"lint simulates at most {_MOST_JOBS} jobs and pods, and the input has {count}; use "
            "`policygen simulate`"
        )
    from policygen.simulate import scene as scenes  # noqa: PLC0415 - most inputs need no simulation
    from policygen.simulate.scene_jobs import arrivals  # noqa: PLC0415 - the same

    scene = scenes.Scene(cluster, settings(facts))
    jobs = arrivals(scene, _JOB_S)
    timeline = scenes.timeline(scene, _in_order(jobs, seen=cluster.seen is not None))
    if timeline.kueue is not None:
        _open(facts, timeline.kueue.state, jobs)
    for _ in islice(timeline.run(), _MOST_EVENTS):
        pass
    if not timeline.finished:
        raise NotEvaluatedError(
            f"lint simulates at most {_MOST_EVENTS} events, and the jobs of the input need more; use "
            "`policygen simulate`"
        )
    waiting = [it for it in timeline.jobs if _never_started(it)]
    kueue = timeline.kueue
    if not waiting or kueue is None:
        return ()
    alone = _Alone(scene, arrivals(scene, _JOB_S))
    _open(facts, alone.state, jobs)
    found = _Owners(facts)
    owners = {it.workload.name: owner for it in jobs if it.workload and (owner := found.of(it))}
    return tuple(_stuck(facts, kueue.state, waiting, alone, owners))


def unreclaimed(stuck: StuckQueue) -> UnreclaimedQuota | None:
    """The first such quota of a queue; None with Never, which lends-without-reclaim reports."""
    queue = stuck.queue
    if queue.reclaim_within_cohort not in PARTIAL:
        return None
    for job in stuck.jobs:
        nominal, usage = queue.node.nominal, queue.node.usage
        if any(usage[pair] + amount > nominal[pair] for pair, amount in job.amounts.items()):
            continue
        for pair in _missing(stuck, job):
            borrowers = list(dict.fromkeys(_borrowers(stuck, pair)))
            if borrowers:
                return UnreclaimedQuota(job, pair, borrowers)
    return None


def _missing(stuck: StuckQueue, job: StuckJob) -> Iterator[int]:
    """What the job needs and Kueue does not give it; GPUs come first."""
    pairs = sorted(job.amounts, key=lambda it: "/" not in stuck.state.pairs[it][1])
    for pair in pairs:
        if job.amounts[pair] > max(0, stuck.queue.node.available(pair)):
            yield pair


def _borrowers(stuck: StuckQueue, pair: int) -> Iterator[Object]:
    """The objects whose workloads hold this in queues that borrow it."""
    for node in stuck.queue.node.root().queues():
        if node is stuck.queue.node or node.usage[pair] <= node.nominal[pair]:
            continue
        for it in stuck.state.of_node[node].workloads.values():
            held = it.admission.pairs if it.admission is not None else ()
            if pair in held and it.name in stuck.owners:
                yield stuck.owners[it.name]


def _stuck(
    facts: Facts,
    state: "QueueState",
    waiting: Iterable["JobRun"],
    alone: "_Alone",
    owners: Mapping[str, Object],
) -> Iterator[StuckQueue]:
    by_queue: dict[str, list[QueuedWorkload]] = {}
    for it in waiting:
        if it.workload is not None:
            queue = state.local_queues.get(it.workload.queue, "")
            by_queue.setdefault(queue, []).append(it.workload)
    for entry in facts.cluster.cluster_queues:
        ordered = sorted(by_queue.get(entry.name, ()), key=lambda it: it.order)
        jobs = [
            StuckJob(owner, amounts)
            for it in ordered
            if (owner := owners.get(it.name)) is not None
            and (amounts := alone.amounts(it.name)) is not None
        ]
        if jobs:
            first = owners.get(ordered[0].name)
            yield StuckQueue(entry, state.queues[entry.name], tuple(jobs), first, state, owners)


def _can_block(queue: Entry[ClusterQueueView]) -> bool:
    preemption = queue.fields.preemption
    policy = preemption.reclaim_within_cohort if preemption is not None else ""
    return policy in PARTIAL or queue.fields.queueing_strategy == STRICT


def _has_jobs(facts: Facts) -> bool:
    """Whether Kueue queues jobs of the input, also by a LocalQueue `default`."""
    cluster = facts.cluster
    return (
        cluster.kueue_workloads.any
        or bool(cluster.derive(queued))
        or any(cluster.local_queues.knows(DEFAULT_QUEUE, it.namespace) for it in managed(cluster))
    )


def _open(facts: Facts, state: "QueueState", jobs: Iterable["Arrival"]) -> None:
    """Let queues admit jobs of namespaces that they may select; the input may not have the namespaces."""
    names = {it.name.partition("/")[0] for it in jobs}
    for entry in facts.cluster.cluster_queues:
        selector = entry.fields.namespace_selector
        if selector is not None and (queue := state.queues.get(entry.name)) is not None:
            queue.namespaces |= {
                it for it in names if selects(facts.cluster, selector, it) is not False
            }


def _in_order(jobs: Iterable["Arrival"], *, seen: bool) -> Iterator["Arrival"]:
    """The jobs of manifests, those whose pods do not end first. A cluster knows its own order."""
    for it in jobs:
        yield it if seen or it.duration is None else replace(it, at=it.at + 1)


def _never_started(job: "JobRun") -> bool:
    waits = job.has_arrived and not job.active and job.admitted is None
    return waits and job.workload is not None and not job.arrival.refusal


class _Alone:
    """Kueue without any other workload."""

    def __init__(self, scene: "Scene", jobs: Iterable["Arrival"]) -> None:
        from policygen.simulate.scene import kueue_scheduler  # noqa: PLC0415 - as above

        self._scheduler = kueue_scheduler(scene)
        self.state = self._scheduler.state
        self._jobs = {it.workload.name: it.workload for it in jobs if it.workload is not None}

    def amounts(self, name: str) -> Mapping[int, int] | None:
        """What a workload uses alone; None if it never starts."""
        workload = self._jobs[name]
        self._scheduler.submit(workload)
        for _ in range(_MOST_CYCLES):
            self._scheduler.cycle(0.0)
            if workload.admission is not None or not self._scheduler.waits():
                break
        found = workload.admission
        self._scheduler.finish(workload)
        return dict(found.usage) if found is not None else None


class _Owners:
    """The objects of jobs."""

    def __init__(self, facts: Facts) -> None:
        objects = [it.object for it in facts.cluster.workloads]
        objects += [it.object for it in facts.cluster.kueue_workloads]
        self._found = {(it.kind, it.namespace or "default", it.name): it for it in objects}

    def of(self, job: "Arrival") -> Object | None:
        namespace, _, name = job.object_name.partition("/")
        found = self._found.get((job.kind, namespace, name))
        # A job with several Workloads has a number behind its name.
        return found or self._found.get((job.kind, namespace, name.rpartition("-")[0]))
