"""A queue is below `default`, where every job lands that names no queue."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.volcano import queues


def check(facts: Facts) -> Iterator[Hit]:
    """The first pod without a queue makes a pod group in an inner queue.

    Source: pkg/controllers/podgroup/pg_controller_handler.go; plugins/capacity/capacity.go.
    """
    tree = facts.cluster.derive(queues.tree)
    for queue in tree.children.get(queues.DEFAULT, ()):
        yield Hit(
            RULE,
            f"{queue} is below queue default, where all pods land that name no queue: the first "
            "one stops the scheduling of all queues; take another parent",
            queue.at.to("spec", "parent"),
        )


RULE = ObjectRule(
    "default-queue-has-children",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("Queue",),
    check=check,
)
