"""A job of Volcano is sent to a queue that has queues below it."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.volcano import queues


def check(facts: Facts) -> Iterator[Hit]:
    """Of pod groups, which are accepted, `gang-in-inner-queue` tells.

    Source: pkg/webhooks/admission/jobs/validate/admit_job.go, validateJobCreate.
    """
    tree = facts.cluster.derive(queues.tree)
    for job in facts.cluster.volcano_jobs:
        queue = job.it.queue or queues.DEFAULT
        if queue == queues.DEFAULT or not tree.inner(queue):
            continue  # that the default queue has children is the fault of these
        hint, below = tree.leaf(queue)
        yield Hit(
            RULE,
            f'{job} is sent to queue "{queue}", which takes no jobs as it has queues below it: it is '
            f"refused; {hint}",
            job.at.to("spec", "queue"),
            below,
        )


RULE = ObjectRule(
    "job-in-inner-queue",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=("Job",),
    check=check,
    reads=("Queue",),
)
