"""Pods name a Queue of Volcano that does not exist, so they never start."""

from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano.missing_queues import missing_queues, renamed_hits
from policygen.lint.volcano.queues import SENDERS


def check(facts: Facts) -> Hits:
    """The API server accepts the pods, but Volcano's webhook refuses the PodGroup that they need.

    Source: podgroups/validate/validate_podgroup.go of Volcano 1.14.1.
    """
    yield from renamed_hits(facts, RULE, of_pods=True)
    for use, advice in missing_queues(facts, of_pods=True):
        yield Hit(
            RULE,
            f'{use.owner} names queue "{use.queue}", which does not exist, so its pods stay Pending; {advice}',
            use.at,
        )


RULE = ObjectRule(
    "pods-without-queue",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write the name of an existing queue, or create the queue.",
    judges=("Queue", *SENDERS),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("Queue",),
)
