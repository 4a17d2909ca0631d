"""A Queue has more queues above it than Volcano's webhook allows."""

from itertools import islice, takewhile

from policygen.core.versions import VOLCANO_QUEUE_DEPTH
from policygen.kubernetes.table import Entry
from policygen.kubernetes.volcano import QueueView
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
        # The webhook ignores a parent of root.
        path = takewhile(_is_below_root, queues.ancestors(facts.cluster, queue))
        if len(list(islice(path, VOLCANO_QUEUE_DEPTH + 1))) == VOLCANO_QUEUE_DEPTH:
            yield Hit(
                RULE,
                f"{queue} has {VOLCANO_QUEUE_DEPTH} queues above it, but Volcano's webhooks allow "
                f"{VOLCANO_QUEUE_DEPTH - 1} by default; set a parent nearer to root, or raise "
                "--max-queue-depth of the webhooks",
                queue.at.to("spec", "parent"),
            )


def _is_below_root(queue: Entry[QueueView]) -> bool:
    return queue.name != queues.ROOT


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
