"""Jobs that Kueue never admits beside the others of the input, although it would admit each alone.

Found by a simulation of Kueue 0.19. Nodes are not simulated. Pods of kinds such as Deployment start first and
do not end. Other jobs end after some time.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from policygen.kubernetes.kueue import ClusterQueueView
from policygen.kubernetes.object import Object
from policygen.kubernetes.table import Entry
from policygen.lint.kueue.simulated import (
    JOB_S,
    Owners,
    check_size,
    has_queued_jobs,
    open_namespaces,
    scene_of,
)
from policygen.lint.kueue.strict_queues import is_strict
from policygen.lint.rule import Facts, TooLargeError

if TYPE_CHECKING:  # most inputs need no simulation
    from policygen.simulate.arrival import Arrival
    from policygen.simulate.kueue.queue import SimulatedQueue
    from policygen.simulate.kueue.state import QueueState
    from policygen.simulate.kueue.workload import QueuedWorkload
    from policygen.simulate.over_time.job_run import JobRun

PARTIAL: Final = ("LowerPriority", "LowerOrNewerEqualPriority")
"""Policies that let a queue reclaim its quota from some workloads only."""
_MOST_EVENTS = 5_000


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
    if not any(map(_can_block, cluster.cluster_queues)) or not has_queued_jobs(facts):
        return ()
    check_size(facts, of_kueue=True)
    from policygen.simulate import scene_schedulers  # noqa: PLC0415 - most inputs need no simulation
    from policygen.simulate.scene_jobs import arrivals  # noqa: PLC0415 - the same
    from policygen.simulate.why.alone import EmptyPlatform  # noqa: PLC0415 - the same

    scene = scene_of(facts)
    jobs = arrivals(scene, JOB_S, of_kueue=True)
    timeline = scene_schedulers.timeline(scene, _in_order(jobs, seen=cluster.seen is not None))
    if timeline.kueue is not None:
        open_namespaces(facts, timeline.kueue.state, jobs)
    for _ in islice(timeline.run(), _MOST_EVENTS):
        pass
    if not timeline.finished:
        raise TooLargeError(
            f"lint simulates at most {_MOST_EVENTS} events, and the jobs of the input need more"
        )
    waiting = [it for it in timeline.jobs if _never_started(it)]
    kueue = timeline.kueue
    if not waiting or kueue is None:
        return ()
    alone = EmptyPlatform(scene)
    open_namespaces(facts, alone.state, jobs)
    fresh = {
        it.workload.name: it.workload for it in arrivals(scene, JOB_S, of_kueue=True) if it.workload
    }
    found = Owners(facts)
    owners = {it.workload.name: owner for it in jobs if it.workload and (owner := found.of(it))}

    def amounts(name: str) -> Mapping[int, int] | None:
        admission = alone.admission(fresh[name])
        return dict(admission.usage) if admission is not None else None

    return tuple(_stuck(facts, kueue.state, waiting, amounts, owners))


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
    amounts_alone: Callable[[str], Mapping[int, int] | None],
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
            and (amounts := amounts_alone(it.name)) is not None
        ]
        if jobs:
            first = owners.get(ordered[0].name)
            yield StuckQueue(entry, state.queues[entry.name], tuple(jobs), first, state, owners)


def _can_block(queue: Entry[ClusterQueueView]) -> bool:
    preemption = queue.fields.preemption
    policy = preemption.reclaim_within_cohort if preemption is not None else ""
    return policy in PARTIAL or is_strict(queue)


def _in_order(jobs: Iterable["Arrival"], *, seen: bool) -> Iterator["Arrival"]:
    """The jobs of manifests, those whose pods do not end first. A cluster knows its own order."""
    for it in jobs:
        yield it if seen or it.duration is None else replace(it, at=it.at + 1)


def _never_started(job: "JobRun") -> bool:
    waits = job.has_arrived and not job.active and job.admitted is None
    return waits and job.workload is not None and not job.arrival.refusal
