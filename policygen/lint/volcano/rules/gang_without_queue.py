"""A PodGroup or Job names a Queue that does not exist."""

from policygen.api_validation.metadata import is_subdomain
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano.missing_queues import missing_queues, renamed_hits
from policygen.lint.volcano.queues import SENDERS


def check(facts: Facts) -> Hits:
    """Refused at creation from 1.12 on. If the queue is deleted later, the job is silently skipped.

    invalid-value reports names that no Queue can have. Source: podgroups/validate/validate_podgroup.go; pkg/scheduler/cache/cache.go, Snapshot.
    """
    yield from renamed_hits(facts, RULE, of_pods=False)
    for use, advice in missing_queues(facts, of_pods=False):
        message = f'{use.owner} names queue "{use.queue}", which does not exist; {advice}'
        if is_subdomain(use.queue):
            yield Hit(RULE, message, use.at)


RULE = ObjectRule(
    "gang-without-queue",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write the name of an existing queue, or create the queue.",
    judges=("Queue", *SENDERS),
    check=check,
    may_exist=True,
    needs=frozenset({Need.WHOLE}),
    reads=("Queue",),
)
