"""The first job of a StrictFIFO queue never starts, so the jobs behind it never start either."""

from collections.abc import Collection

from policygen.core.finding import At
from policygen.core.quoting import some
from policygen.lint.core.queue_sums import READS_OF_JOBS, queue_sums
from policygen.lint.kueue.simulated import READS
from policygen.lint.kueue.strict_queues import is_strict
from policygen.lint.kueue.stuck_jobs import (
    StuckJob,
    StuckQueue,
    stuck_jobs,
    unreclaimed,
)
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue tries only the first job of such a queue.

    Found by a simulation of Kueue: see lint/kueue/stuck_jobs.py. If the first job would not start alone
    either, or only beside pods of its own queue, the rule that reports this job reports the blocked queue
    too, such as workload-exceeds-quota or workloads-exceed-queue.
    Source: pkg/cache/queue/cluster_queue.go of Kueue 0.19.2.
    """
    reported = _reported(facts)
    for it in facts.derive(stuck_jobs):
        if not is_strict(it.entry) or it.jobs[0].owner is not it.first:
            continue
        if it.first.at in reported:
            continue
        if "own-quota-not-reclaimed" in facts.run and unreclaimed(it) is not None:
            continue
        first, *others = it.jobs
        blocked = [job for job in others if _has_room(it, job)]
        if blocked:
            names = list(dict.fromkeys(str(job.owner) for job in blocked))
            never = "never starts" if len(names) == 1 else "never start"
            yield Hit(
                RULE,
                f"{first.owner} never starts, because pods that do not end hold quota that it needs; {it.entry} is "
                f"StrictFIFO, so {some(names, 'other job')} behind it {never} either, although there is "
                f"quota for {'it' if len(names) == 1 else 'them'}; write queueingStrategy: BestEffortFIFO, or lower the requests of "
                f"{first.owner}",
                it.entry.at.to("spec", "queueingStrategy"),
                related=(first.owner.at, blocked[0].owner.at),
            )


def _reported(facts: Facts) -> Collection[At]:
    """The jobs that workloads-exceed-queue reports."""
    if "workloads-exceed-queue" not in facts.run:
        return ()
    return {job.workload.at for it in facts.derive(queue_sums) for job in it.jobs}


def _has_room(stuck: StuckQueue, job: StuckJob) -> bool:
    return all(
        amount <= max(0, stuck.queue.node.available(pair)) for pair, amount in job.amounts.items()
    )


RULE = ObjectRule(
    "strict-fifo-blocks-forever",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Use BestEffortFIFO, or lower the requests of the first job.",
    judges=("ClusterQueue",),
    check=check,
    needs=frozenset({Need.WHOLE, Need.WORKLOADS}),
    reads=tuple(dict.fromkeys((*READS, *READS_OF_JOBS))),
    since={"kueue": (0, 19)},
)
