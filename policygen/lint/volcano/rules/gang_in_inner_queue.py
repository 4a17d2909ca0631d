"""A gang is sent to a queue that has queues below it."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.volcano import queues


def check(facts: Facts) -> Iterator[Hit]:
    """One pod group in an inner queue, and under enableHierarchy no queue is scheduled any more.

    A job of Volcano is refused, which `job-in-inner-queue` tells.

    Source: pkg/scheduler/plugins/capacity/capacity.go, buildHierarchicalQueueAttrs;
    volcano-sh/volcano#4673, #4104.
    """
    tree = facts.cluster.derive(queues.tree)
    jobs = {job.at.to("spec", "queue") for job in facts.cluster.volcano_jobs}
    for sent in facts.cluster.derive(queues.sent):
        if sent.at in jobs:
            continue
        if sent.queue == queues.DEFAULT or not tree.inner(sent.queue):
            continue  # that the default queue has children is the fault of these
        hint, below = tree.leaf(sent.queue)
        yield Hit(
            RULE,
            f'{sent.what} is sent to queue "{sent.queue}", which is none of the tree\'s leaves: '
            f"with enableHierarchy it stops the scheduling of all queues; {hint}",
            sent.at,
            below,
        )


RULE = ObjectRule(
    "gang-in-inner-queue",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=queues.SENDERS,
    check=check,
    reads=("Queue",),
)
