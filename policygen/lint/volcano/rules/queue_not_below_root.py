"""A queue's parent is missing, or its parents go in a circle."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.core.suggest import suggest
from policygen.lint.rule import Facts, Family, Need, ObjectRule
from policygen.lint.volcano import queues as volcano_queues


def check(facts: Facts) -> Iterator[Hit]:
    """One such queue stops all scheduling where the tree counts; the webhook refuses it before.

    Source: pkg/scheduler/plugins/capacity/capacity.go, updateAncestors;
    pkg/webhooks/admission/queues/validate/validate_queue.go, validateHierarchicalQueue.
    """
    queues = facts.cluster.queues
    lost = facts.cluster.derive(volcano_queues.tree).lost
    told: set[str] = set()
    for queue in queues:
        name = queue.it.parent
        if queue.name not in lost or queue.name in told or not name:
            continue
        at = queue.at.to("spec", "parent")
        if not queues.knows(name) and name not in volcano_queues.MADE:
            hint = suggest(name, queues.names())
            yield Hit(
                RULE,
                f'{queue} is below queue "{name}", which is not there: it is refused, or no queue '
                f"is scheduled any more; {hint}",
                at,
            )
            continue
        ring = [queue.name, *(each.name for each in volcano_queues.ancestors(facts.cluster, queue))]
        last = queues.get(ring[-1])
        if last is not None and last.it.parent == queue.name:
            told.update(ring)
            yield Hit(
                RULE,
                f"queues {', '.join(ring)} are each other's parents, so none is below root; take "
                "the parent from one of them",
                at,
            )


RULE = ObjectRule(
    "queue-not-below-root",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=("Queue",),
    check=check,
    stands=True,
    needs=frozenset({Need.WHOLE}),
)
