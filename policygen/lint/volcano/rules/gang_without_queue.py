"""A PodGroup, Job or pod names a Queue that does not exist."""

from policygen.core.suggest import Names, suggest
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano import queues as volcano_queues


def check(facts: Facts) -> Hits:
    """Refused at creation from 1.12 on. If the queue is deleted later, the job is silently skipped.

    Source: podgroups/validate/validate_podgroup.go; pkg/scheduler/cache/cache.go, Snapshot.
    """
    queues = facts.cluster.queues
    names = Names([*queues.names(), volcano_queues.DEFAULT])
    for use in facts.cluster.derive(volcano_queues.queue_uses):
        if use.queue not in volcano_queues.MADE and not queues.knows(use.queue):
            advice = suggest(use.queue, names)
            yield Hit(
                RULE,
                f'{use.owner} names queue "{use.queue}", which does not exist; {advice}',
                use.at,
            )


RULE = ObjectRule(
    "gang-without-queue",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write the name of an existing queue, or create the queue.",
    judges=volcano_queues.SENDERS,
    check=check,
    may_exist=True,
    needs=frozenset({Need.WHOLE}),
    reads=("Queue",),
)
