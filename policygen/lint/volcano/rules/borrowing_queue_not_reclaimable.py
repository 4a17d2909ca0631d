"""A Queue may use more than it deserves, but has reclaimable: false."""

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano.queues import ROOT


def check(facts: Facts) -> Hits:
    """Reclaim skips queues with reclaimable false.

    Source: pkg/scheduler/actions/reclaim/reclaim.go, queue.Reclaimable().
    """
    for queue in facts.cluster.queues:
        spec = queue.fields
        if queue.name == ROOT:
            continue  # root is never a victim
        more = [
            name
            for name, amount in spec.deserved.items()
            if name not in spec.capability or spec.capability[name] > amount
        ]
        if not spec.reclaimable and more:
            yield Hit(
                RULE,
                f"{queue} may use more {', '.join(more)} than it deserves, but has reclaimable: false, so other queues "
                "cannot reclaim these resources; lower capability to deserved, or set "
                "reclaimable: true",
                queue.at.to("spec", "reclaimable"),
            )


RULE = ObjectRule(
    "borrowing-queue-not-reclaimable",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Lower capability to deserved, or set reclaimable: true.",
    judges=("Queue",),
    check=check,
    aliases=("queue-keeps-what-it-borrows",),
)
