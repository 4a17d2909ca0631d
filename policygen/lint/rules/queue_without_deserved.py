"""A queue has a limit and deserves nothing, so all that it runs may be taken away."""

from collections.abc import Iterator

from policygen.finding import Severity
from policygen.lint import volcano_queues
from policygen.lint.rule import Claim, Facts, Family, Rule
from policygen.lint.volcano_settings import settings


def check(facts: Facts) -> Iterator[Claim]:
    """To capacity what is above deserved is a victim, and nothing may be reclaimed below it.

    Without a configuration in the input, only queues are judged that do not live by weights.
    Source: pkg/scheduler/plugins/capacity/capacity.go, isImmediateVictim, AddPreemptiveFn.
    """
    configuration = settings(facts)
    if configuration is not None and configuration.capacity is None:
        return
    tree = facts.cluster.derive(volcano_queues.tree)
    where = "the plugin capacity" if configuration is None else "capacity"
    for queue in facts.cluster.queues:
        it = queue.it
        if it.deserved or it.guarantee.resource or queue.name == volcano_queues.ROOT:
            continue
        if not it.capability or it.weight > 1 or tree.inner(queue.name):
            continue
        yield Claim(
            f"{queue} has no deserved: under {where} all that it runs is borrowed and may be "
            "reclaimed, and it can reclaim nothing itself; write deserved",
            queue.at / "spec",
        )


RULE = Rule(
    "queue-without-deserved",
    Severity.WARNING,
    Family.INERT,
    judges=("Queue",),
    check=check,
    reads=("volcano-scheduler.conf",),
)
