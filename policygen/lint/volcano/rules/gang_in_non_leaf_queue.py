"""A gang is in a Queue that has queues below it."""

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import queues
from policygen.lint.volcano.team_queues import parents_of_queues


def check(facts: Facts) -> Hits:
    """One PodGroup in a queue with children stops all scheduling under enableHierarchy.

    Volcano refuses a Job there, which `job-in-non-leaf-queue` reports.

    Source: pkg/scheduler/plugins/capacity/capacity.go, buildHierarchicalQueueAttrs;
    volcano-sh/volcano#4673, #4104.
    """
    tree = facts.cluster.derive(queues.tree)
    reported = "team-queue-has-children" in facts.run
    of_teams = facts.derive(parents_of_queues) if reported else ()
    jobs = {job.at.to("spec", "queue") for job in facts.cluster.volcano_jobs}
    for use in facts.cluster.derive(queues.queue_uses):
        if use.at in jobs:
            continue
        if use.queue == queues.DEFAULT or not tree.inner(use.queue):
            continue  # default-queue-has-children reports its children
        if use.queue in of_teams:
            continue  # team-queue-has-children reports its children
        yield Hit(
            RULE,
            f'{use.owner} is in queue "{use.queue}", which is not a leaf queue; with enableHierarchy, such a gang stops the scheduling of all queues;'
            f" {tree.leaf(use.queue)}",
            use.at,
        )


RULE = ObjectRule(
    "gang-in-non-leaf-queue",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Put the gang into a leaf queue.",
    judges=queues.SENDERS,
    check=check,
    reads=("Queue",),
    aliases=("gang-in-inner-queue",),
)
