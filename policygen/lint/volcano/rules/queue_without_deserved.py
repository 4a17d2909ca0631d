"""A queue has a limit and deserves nothing, so all that it runs may be taken away."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, Need, ObjectRule
from policygen.lint.volcano import queues
from policygen.lint.volcano.configuration import settings


def check(facts: Facts) -> Iterator[Hit]:
    """To capacity what is above deserved is a victim, and nothing may be reclaimed below it.

    One that is not reclaimable is no victim. The configuration that Volcano ships has the plugin
    proportion, which heeds no deserved.
    Source: pkg/scheduler/plugins/capacity/capacity.go, isImmediateVictim, AddPreemptiveFn.
    """
    configuration = settings(facts)
    if configuration is None or configuration.capacity is None:
        return
    tree = facts.cluster.derive(queues.tree)
    for queue in facts.cluster.queues:
        it = queue.it
        if it.deserved or it.guarantee.resource or queue.name == queues.ROOT:
            continue
        if not it.capability or not it.reclaimable or it.weight > 1 or tree.inner(queue.name):
            continue
        yield Hit(
            RULE,
            f"{queue} has no deserved: under capacity all that it runs is borrowed and may be "
            "reclaimed, and it can reclaim nothing itself; write deserved",
            queue.at / "spec",
        )


RULE = ObjectRule(
    "queue-without-deserved",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("Queue",),
    check=check,
    needs=frozenset({Need.VOLCANO_CONFIGURATION}),
    reads=("volcano-scheduler.conf",),
)
