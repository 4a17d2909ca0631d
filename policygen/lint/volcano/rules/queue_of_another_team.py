"""A workload names the Queue of another team, so the workload uses that team's GPUs."""

from policygen.core.quoting import listed
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano.queues import SENDERS, queue_uses
from policygen.lint.volcano.team_queues import team_queues


def check(facts: Facts) -> Hits:
    """Volcano does not bind queues to namespaces: any namespace can name any queue.

    Source: pkg/webhooks/admission/jobs/validate/admit_job.go and podgroups/validate of Volcano 1.14.1.
    """
    found = facts.derive(team_queues)
    for use in facts.cluster.derive(queue_uses):
        queue, teams = found.by_name.get(use.queue), found.teams.get(use.namespace)
        if queue is None or not teams or queue.team in teams:
            continue
        own = found.of(use.namespace, queue.resources)
        right = (
            listed(sorted(own), "or") if own else f"a queue of team {listed(sorted(teams), 'or')}"
        )
        yield Hit(
            RULE,
            f'{use.owner} names queue {use.queue} of team "{queue.team}", but namespace {use.namespace} belongs to '
            f'team "{listed(sorted(teams), "and")}", so it uses the GPUs of the other team; write {right}',
            use.at,
        )


RULE = ObjectRule(
    "queue-of-another-team",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the name of a queue of the namespace's own team.",
    judges=SENDERS,
    check=check,
    needs=frozenset({Need.SPEC}),
)
