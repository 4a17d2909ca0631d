"""A Volcano Job is in a Queue that has queues below it."""

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import queues
from policygen.lint.volcano.team_queues import parents_of_queues


def check(facts: Facts) -> Hits:
    """Volcano accepts a PodGroup there, which `gang-in-non-leaf-queue` reports.

    Source: pkg/webhooks/admission/jobs/validate/admit_job.go, validateJobCreate.
    """
    tree = facts.cluster.derive(queues.tree)
    reported = "team-queue-has-children" in facts.run
    of_teams = facts.derive(parents_of_queues) if reported else ()
    for job in facts.cluster.volcano_jobs:
        queue = job.fields.queue or queues.DEFAULT
        if queue == queues.DEFAULT or not tree.inner(queue):
            continue  # default-queue-has-children reports its children
        if queue in of_teams:
            continue  # team-queue-has-children reports its children
        yield Hit(
            RULE,
            f'{job} is in queue "{queue}", which is not a leaf queue, so Volcano refuses the Job; '
            f"{tree.leaf(queue)}",
            job.at.to("spec", "queue"),
        )


RULE = ObjectRule(
    "job-in-non-leaf-queue",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Put the Job into a leaf queue.",
    judges=("Job",),
    check=check,
    reads=("Queue",),
    aliases=("job-in-inner-queue",),
)
