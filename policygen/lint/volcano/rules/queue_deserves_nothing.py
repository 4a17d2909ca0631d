"""A queue has a limit and does not say what it deserves, which the plugin capacity asks for."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.volcano import queues


def check(facts: Facts) -> Iterator[Hit]:
    """A note, where no configuration says which plugin decides; else see `queue-without-deserved`.

    A queue that is weighed against others lives by the plugin proportion, which Volcano ships.
    Source: pkg/scheduler/plugins/capacity/capacity.go, isImmediateVictim, AddPreemptiveFn.
    """
    if facts.cluster.seen is not None or facts.cluster.volcano_configurations.any:
        return
    tree = facts.cluster.derive(queues.tree)
    for queue in facts.cluster.queues:
        it = queue.it
        says = it.deserved or it.guarantee.resource or it.weight > 1
        if says or not it.capability or not it.reclaimable or tree.inner(queue.name):
            continue
        yield Hit(
            RULE,
            f"{queue} does not say what it deserves: under the plugin capacity all that it runs is "
            "borrowed and may be reclaimed; write deserved, unless proportion shares by weight",
            queue.at / "spec",
        )


RULE = ObjectRule(
    "queue-deserves-nothing",
    Severity.INFO,
    Family.INERT,
    __doc__,
    judges=("Queue",),
    check=check,
    reads=("volcano-scheduler.conf",),
)
