"""A queue may use more than it deserves, and nobody may take it back."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.volcano.queues import ROOT


def check(facts: Facts) -> Iterator[Hit]:
    """Queues with reclaimable false are passed over when victims are looked for.

    Source: pkg/scheduler/actions/reclaim/reclaim.go, queue.Reclaimable().
    """
    for queue in facts.cluster.queues:
        it = queue.it
        if queue.name == ROOT:
            continue  # it is never a victim
        more = [
            name
            for name, amount in it.deserved.items()
            if name not in it.capability or it.capability[name] > amount
        ]
        if not it.reclaimable and more:
            yield Hit(
                RULE,
                f"{queue} may use more {', '.join(more)} than it deserves, and is not reclaimable: "
                "what it borrows stays with it; lower capability to deserved, or let it be "
                "reclaimed",
                queue.at.to("spec", "reclaimable"),
            )


RULE = ObjectRule(
    "queue-keeps-what-it-borrows",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("Queue",),
    check=check,
)
