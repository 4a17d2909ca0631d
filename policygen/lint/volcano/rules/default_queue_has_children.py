"""A Queue has the parent default, but Volcano puts all pods without a queue into default."""

from policygen.lint.rule import Edit, Facts, Family, Hit, Hits, ObjectRule, Severity, Verb
from policygen.lint.volcano import queues


def check(facts: Facts) -> Hits:
    """The first pod without a queue creates a PodGroup in a queue that is not a leaf.

    Findings about amounts that only queue default does not allow follow from the parent, so they are omitted.
    Source: pkg/controllers/podgroup/pg_controller_handler.go; plugins/capacity/capacity.go.
    """
    tree = facts.cluster.derive(queues.tree)
    for queue in tree.children.get(queues.DEFAULT, ()):
        at = queue.at.to("spec", "parent")
        yield Hit(
            RULE,
            f"{queue} has parent default. The first pod without a queue goes to default and, with enableHierarchy, stops the scheduling of all queues; set "
            "another parent",
            at,
            meant=(Edit(Verb.REWRITE, at, queues.ROOT),),
        )


RULE = ObjectRule(
    "default-queue-has-children",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Give the queue another parent.",
    judges=("Queue",),
    check=check,
)
