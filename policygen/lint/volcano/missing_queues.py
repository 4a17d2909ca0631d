"""Queues of Volcano that objects or pods name, but that do not exist."""

from collections.abc import Iterator

from policygen.core.suggest import Names
from policygen.lint.rule import Facts
from policygen.lint.volcano import queues as volcano_queues


def missing_queues(facts: Facts, *, of_pods: bool) -> Iterator[tuple[volcano_queues.QueueUse, str]]:
    """The uses of such queues by pods, or by PodGroups and Jobs, each with what to write."""
    queues = facts.cluster.queues
    names = Names([*queues.names(), volcano_queues.DEFAULT])
    for use in facts.cluster.derive(volcano_queues.queue_uses):
        if use.of_pods == of_pods and not (
            use.queue in volcano_queues.MADE or queues.knows(use.queue)
        ):
            yield use, _advice(facts, use, names)


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
