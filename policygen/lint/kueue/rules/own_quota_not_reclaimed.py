"""A job never gets the quota of its own queue, because pods that do not end borrow it."""

from collections.abc import Iterator
from fractions import Fraction

from policygen.core.amounts import readable
from policygen.core.quoting import some
from policygen.kubernetes.object import Object
from policygen.lint.kueue.stuck_jobs import PARTIAL, READS, StuckJob, StuckQueue, stuck_jobs
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """A partial reclaimWithinCohort evicts no workload of an equal or a higher priority.

    Found by a simulation of Kueue: see lint/kueue/stuck_jobs.py.
    Source: pkg/scheduler/preemption/common/preemption_common.go of Kueue 0.19.2.
    """
    for it in facts.derive(stuck_jobs):
        if (hit := unreclaimed(it)) is not None:
            yield hit


def unreclaimed(stuck: StuckQueue) -> Hit | None:
    """The finding about a queue; at most one."""
    queue = stuck.queue
    if queue.reclaim_within_cohort not in PARTIAL:
        return None  # with Never, lends-without-reclaim reports it
    for job in stuck.jobs:
        nominal, usage = queue.node.nominal, queue.node.usage
        if any(usage[pair] + amount > nominal[pair] for pair, amount in job.amounts.items()):
            continue
        for pair in _missing(stuck, job):
            borrowers = list(dict.fromkeys(_borrowers(stuck, pair)))
            if borrowers:
                return _hit(stuck, job, pair, borrowers)
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


def _hit(stuck: StuckQueue, job: StuckJob, pair: int, borrowers: list[Object]) -> Hit:
    flavor, resource = stuck.state.pairs[pair]
    policy = stuck.queue.reclaim_within_cohort
    who = some([str(it) for it in borrowers], "other workload")
    ends = "does" if len(borrowers) == 1 else "do"
    only = "a lower priority" if policy == PARTIAL[0] else "a lower priority, or newer workloads"
    amount = readable(
        resource, Fraction(job.amounts[pair], 1000 if resource == "cpu" else 1)
    )  # Kueue counts thousandths of a cpu
    return Hit(
        RULE,
        f"{job.owner} never starts, although its request of {amount} {resource} is within the nominalQuota of "
        f"{stuck.entry} for flavor {flavor}: {who} {'borrows' if len(borrowers) == 1 else 'borrow'} this quota and {ends} not end, "
        f"and reclaimWithinCohort: {policy} evicts only workloads with {only}; write "
        f"reclaimWithinCohort: Any, or give {borrowers[0]} a lower priority",
        stuck.entry.at.to("spec", "preemption", "reclaimWithinCohort"),
        related=(job.owner.at, borrowers[0].at),
    )


RULE = ObjectRule(
    "own-quota-not-reclaimed",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Set reclaimWithinCohort to Any, or give the borrowing workloads a lower priority.",
    judges=("ClusterQueue",),
    check=check,
    needs=frozenset({Need.WHOLE, Need.WORKLOADS}),
    reads=READS,
    since={"kueue": (0, 19)},
)
