"""A job never gets the quota of its own queue, because pods that do not end borrow it."""

from fractions import Fraction

from policygen.core.amounts import readable
from policygen.core.quoting import some
from policygen.lint.kueue.simulated import READS
from policygen.lint.kueue.stuck_jobs import (
    PARTIAL,
    StuckQueue,
    UnreclaimedQuota,
    stuck_jobs,
    unreclaimed,
)
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """A partial reclaimWithinCohort evicts no workload of an equal or a higher priority.

    Found by a simulation of Kueue: see lint/kueue/stuck_jobs.py.
    Source: pkg/scheduler/preemption/common/preemption_common.go of Kueue 0.19.2.
    """
    for it in facts.derive(stuck_jobs):
        if (found := unreclaimed(it)) is not None:
            yield _hit(it, found)


def _hit(stuck: StuckQueue, found: UnreclaimedQuota) -> Hit:
    job, borrowers = found.job, found.borrowers
    flavor, resource = stuck.state.pairs[found.pair]
    policy = stuck.queue.reclaim_within_cohort
    who = some([str(it) for it in borrowers], "other workload")
    ends = "does" if len(borrowers) == 1 else "do"
    only = "a lower priority" if policy == PARTIAL[0] else "a lower priority, or newer workloads"
    amount = readable(
        resource, Fraction(job.amounts[found.pair], 1000 if resource == "cpu" else 1)
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
