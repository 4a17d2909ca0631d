"""A PodGroup, Job or pod names a Queue that does not exist."""

from policygen.core.suggest import Names
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
            advice = _advice(facts, use, names)
            yield Hit(
                RULE,
                f'{use.owner} names queue "{use.queue}", which does not exist; {advice}',
                use.at,
            )


def _advice(facts: Facts, use: volcano_queues.QueueUse, names: Names) -> str:
    """Proposes a similar queue, unless only other namespaces or teams use it."""
    users = facts.cluster.derive(volcano_queues.users)
    teams = facts.spec.teams if facts.spec else ()
    for near in names.similar(use.queue):
        used_by = users.get(near, {use.namespace})
        # The spec composes the names of queues from team and pool.
        others = [
            team
            for team in teams
            if near.startswith(f"{team.name}.")
            and use.namespace not in {namespace.name for namespace in team.namespaces}
        ]
        if near == volcano_queues.DEFAULT or (use.namespace in used_by and not others):
            return f'did you mean "{near}"?'
    return "create this queue, or write the name of a queue of your team"


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
