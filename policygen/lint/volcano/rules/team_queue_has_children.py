"""A Queue is below the Queue of a team, which then takes no jobs."""

from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano.queues import queue_uses, tree
from policygen.lint.volcano.team_queues import parents_of_queues


def check(facts: Facts) -> Hits:
    """A team without children runs its workloads in one Queue, which must be a leaf.

    Source: pkg/webhooks/admission/jobs/validate/admit_job.go, validateJobCreate;
    pkg/scheduler/plugins/capacity/capacity.go, buildHierarchicalQueueAttrs, of Volcano 1.14.1.
    """
    children = facts.cluster.derive(tree).children
    for name, team in facts.derive(parents_of_queues).items():
        users = [it.at for it in facts.cluster.derive(queue_uses) if it.queue == name]
        for child in children.get(name, ()):
            yield Hit(
                RULE,
                f'{child} is below Queue {name}, where team "{team}" runs its workloads, so Volcano refuses '
                f"the Jobs of the team, and with enableHierarchy a gang there stops all queues; remove {child}, "
                f"or declare it in the spec as a team with parent: {team}",
                child.at.to("spec", "parent"),
                tuple(users[:5]),
            )


RULE = ObjectRule(
    "team-queue-has-children",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Remove the Queue, or declare it in the spec as a team with a parent.",
    judges=("Queue",),
    check=check,
    needs=frozenset({Need.SPEC}),
    reads=("Job", "Pod", "PodGroup"),
)
