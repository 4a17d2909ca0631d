"""A queue of Volcano has more queues above it than the webhook allows."""

from collections.abc import Iterator
from itertools import islice

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.core.versions import VOLCANO_QUEUE_DEPTH
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.volcano import queues


def check(facts: Facts) -> Iterator[Hit]:
    """From 1.14.2 on. Of a way that is too deep its first queue is told, not all below it.

    Source: pkg/webhooks/admission/queues/validate/validate_queue.go, validateQueueDepth.
    """
    lost = facts.cluster.derive(queues.tree).lost
    for queue in facts.cluster.queues:
        if queue.name in lost or queue.name == queues.ROOT:
            continue
        way = islice(queues.ancestors(facts.cluster, queue), VOLCANO_QUEUE_DEPTH + 1)
        above = [each.name for each in way if each.name != queues.ROOT]
        if len(above) == VOLCANO_QUEUE_DEPTH:
            yield Hit(
                RULE,
                f"{queue} is below {VOLCANO_QUEUE_DEPTH} queues, and Volcano takes {VOLCANO_QUEUE_DEPTH - 1} above one, "
                "unless --max-queue-depth of its webhooks says more; give it a parent nearer to root",
                queue.at.to("spec", "parent"),
            )


RULE = ObjectRule(
    "queue-too-deep",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=("Queue",),
    check=check,
    since={"volcano": (1, 14)},
)
