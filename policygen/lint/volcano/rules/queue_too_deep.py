"""A Queue has more queues above it than Volcano's webhook allows."""

from itertools import islice

from policygen.core.versions import VOLCANO_QUEUE_DEPTH
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import queues


def check(facts: Facts) -> Hits:
    """From 1.14.2 on. Reports only the first queue of a path that is too deep, not all below it.

    Source: pkg/webhooks/admission/queues/validate/validate_queue.go, validateQueueDepth.
    """
    lost = facts.cluster.derive(queues.tree).lost
    for queue in facts.cluster.queues:
        if queue.name in lost or queue.name == queues.ROOT:
            continue
        path = islice(queues.ancestors(facts.cluster, queue), VOLCANO_QUEUE_DEPTH + 1)
        above = [queue.name for queue in path if queue.name != queues.ROOT]
        if len(above) == VOLCANO_QUEUE_DEPTH:
            yield Hit(
                RULE,
                f"{queue} has {VOLCANO_QUEUE_DEPTH} queues above it, but Volcano's webhooks allow "
                f"{VOLCANO_QUEUE_DEPTH - 1} by default; set a parent nearer to root, or raise "
                "--max-queue-depth of the webhooks",
                queue.at.to("spec", "parent"),
            )


RULE = ObjectRule(
    "queue-too-deep",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Give the queue a parent nearer to root.",
    judges=("Queue",),
    check=check,
    since={"volcano": (1, 14)},
)
