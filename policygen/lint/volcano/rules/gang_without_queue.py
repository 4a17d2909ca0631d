"""A gang is sent to a queue that is not there."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.core.suggest import Names, suggest
from policygen.lint.rule import Facts, Family, Need, ObjectRule
from policygen.lint.volcano import queues as volcano_queues


def check(facts: Facts) -> Iterator[Hit]:
    """From 1.12 on refused at creation; if its queue goes later, the job is left out in silence.

    Source: podgroups/validate/validate_podgroup.go; pkg/scheduler/cache/cache.go, Snapshot.
    """
    queues = facts.cluster.queues
    names = Names([*queues.names(), volcano_queues.DEFAULT])
    for sent in facts.cluster.derive(volcano_queues.sent):
        if sent.queue not in volcano_queues.MADE and not queues.knows(sent.queue):
            hint = suggest(sent.queue, names)
            yield Hit(
                RULE,
                f'{sent.what} is sent to queue "{sent.queue}", which is not there; {hint}',
                sent.at,
            )


RULE = ObjectRule(
    "gang-without-queue",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=volcano_queues.SENDERS,
    check=check,
    stands=True,
    needs=frozenset({Need.WHOLE}),
    reads=("Queue",),
)
