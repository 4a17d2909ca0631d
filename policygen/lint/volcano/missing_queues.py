"""Queues of Volcano that objects or pods name, but that do not exist."""

from collections.abc import Iterator, Mapping

from policygen.core.rule import Rule
from policygen.core.suggest import Names
from policygen.lint.core.renamed_objects import NameUse, RenamedObject, renamed_objects
from policygen.lint.rule import Facts, Hits
from policygen.lint.volcano import queues as volcano_queues


def missing_queues(facts: Facts, *, of_pods: bool) -> Iterator[tuple[volcano_queues.QueueUse, str]]:
    """The uses of such queues by pods, or by PodGroups and Jobs, each with what to write."""
    queues, renamed = facts.cluster.queues, facts.derive(renamed_queues)
    names = Names([*queues.names(), volcano_queues.DEFAULT])
    for use in facts.cluster.derive(volcano_queues.queue_uses):
        if use.of_pods == of_pods and not (
            use.queue in (*volcano_queues.MADE, *renamed) or queues.knows(use.queue)
        ):
            yield use, _advice(facts, use, names)


def renamed_queues(facts: Facts) -> Mapping[str, RenamedObject]:
    """The queues that were probably renamed, by the name that several objects or pods use; for `derive`."""
    uses = (
        NameUse(it.owner, it.queue, it.at)
        for it in facts.cluster.derive(volcano_queues.queue_uses)
        if it.queue not in volcano_queues.MADE
    )
    parents = (it.fields.parent for it in facts.cluster.queues)
    return renamed_objects(uses, facts.cluster.queues, (*volcano_queues.MADE, *parents))


def renamed_hits(facts: Facts, rule: Rule, *, of_pods: bool) -> Hits:
    """The findings about such queues that only pods use, or that others use too."""
    by_pods = {it.at for it in facts.cluster.derive(volcano_queues.queue_uses) if it.of_pods}
    for it in facts.derive(renamed_queues).values():
        if all(use.at in by_pods for use in it.uses) == of_pods:
            yield from it.hits(facts, rule)


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
