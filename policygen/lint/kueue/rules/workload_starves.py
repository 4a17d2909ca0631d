"""A Workload has waited for 6 hours, and Workloads created later hold the quota that it needs."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace as copied
from datetime import timedelta
from typing import TYPE_CHECKING

from policygen.core.quoting import counted
from policygen.kubernetes.conditions import long
from policygen.kubernetes.kueue import ClusterQueueView
from policygen.kubernetes.table import Entry
from policygen.lint.kueue.simulated import JOB_S, READS, scene_of
from policygen.lint.kueue.strict_queues import is_strict
from policygen.lint.kueue.waiting import waiting
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

if TYPE_CHECKING:  # most clusters need no simulation
    from policygen.simulate.kueue.state import QueueState
    from policygen.simulate.kueue.workload import QueuedWorkload


_MOST_TRIED = 5
"""In each queue, only those Workloads are tried that have waited the longest."""


def check(facts: Facts) -> Hits:
    """BestEffortFIFO admits later Workloads that fit into the free quota, so a large one may never find enough.

    Reported if the Workload would be admitted without the later Workloads of its queue.
    Source: pkg/cache/queue/cluster_queue.go of Kueue 0.19.2.
    """
    ages = [(facts.now - since, entry) for entry, since in waiting(facts.cluster)]
    late = [it for it in ages if it[0] > facts.bound(RULE)]
    if not late:
        return
    from policygen.simulate.scene_jobs import arrivals  # noqa: PLC0415 - most clusters need no simulation
    from policygen.simulate.scene_schedulers import kueue_scheduler  # noqa: PLC0415 - the same

    jobs = arrivals(scene := scene_of(facts, nodes=True), JOB_S, of_kueue=True)
    state = kueue_scheduler(scene, jobs).state
    workloads = {it.workload.name: it.workload for it in jobs if it.workload is not None}
    tried = Counter[str]()
    for age, entry in sorted(late, key=lambda it: it[0], reverse=True):
        workload = workloads[f"{entry.namespace}/{entry.name}"]
        name = state.local_queues.get(workload.queue, "")
        queue = facts.cluster.cluster_queues.get(name)
        tried[name] += 1
        if queue is None or is_strict(queue) or tried[name] > _MOST_TRIED:
            continue
        later = list(_later(state, workload))
        if _starves(state, workload, later):
            yield Hit(
                RULE,
                f"{entry} has waited for {long(age)}, and Kueue would admit it without "
                f"{counted(len(later), 'Workload')} of {queue} {'that was' if len(later) == 1 else 'that were'} "
                f"created later, for example {later[0].name}; {_remedy(queue, workload, later)}",
                entry.at,
                related=(queue.at,),
            )


def _later(state: "QueueState", workload: "QueuedWorkload") -> Iterator["QueuedWorkload"]:
    """The Workloads of its queue with quota that came after it, and are not more important."""
    for it in state.queue_of(workload).workloads.values():
        if it.created > workload.queued and it.priority <= workload.priority:
            yield it


def _starves(
    state: "QueueState", workload: "QueuedWorkload", later: list["QueuedWorkload"]
) -> bool:
    """Whether Kueue can do nothing for it now, and would admit it without the later ones."""
    from policygen.simulate.kueue.assignment import Mode, assign  # noqa: PLC0415 - as above

    queue = state.queue_of(workload)
    namespace = workload.name.partition("/")[0]
    if not later or queue.inactive or workload.refusal or namespace not in queue.namespaces:
        return False
    if assign(state, copied(workload), queue).mode > Mode.NO_CANDIDATES:
        return False
    with state.without(later):
        return assign(state, copied(workload), queue).mode is Mode.FIT


def _remedy(
    queue: Entry[ClusterQueueView], workload: "QueuedWorkload", later: list["QueuedWorkload"]
) -> str:
    if all(it.priority < workload.priority for it in later):
        return "write preemption.withinClusterQueue: LowerPriority in the queue, so that Kueue preempts them"
    higher = "give its job a WorkloadPriorityClass with a higher value"
    preemption = queue.fields.preemption
    if preemption is not None and preemption.within_cluster_queue != "Never":
        return f"{higher}, so that Kueue preempts them"
    return (
        "write queueingStrategy: StrictFIFO in the queue, so that later Workloads wait for it; or "
        f"{higher}, and write preemption.withinClusterQueue: LowerPriority"
    )


RULE = ObjectRule(
    "workload-starves",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write queueingStrategy: StrictFIFO, or give the job a higher priority and let the queue preempt.",
    judges=("Workload",),
    check=check,
    needs=frozenset({Need.SEEN, Need.QUEUES}),
    reads=(*READS, "ClusterQueue", "Node"),
    bound=timedelta(hours=6),
    since={"kueue": (0, 19)},
)
