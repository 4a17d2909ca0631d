"""The teams of a spec, as far as they decide which queues of Volcano a namespace may use."""

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct, field

from policygen.lint.rule import Facts
from policygen.lint.volcano.queues import tree


class TeamQueue(Struct, frozen=True, eq=False):
    """A queue for workloads that the spec renders for a team."""

    name: str
    team: str
    resources: Collection[str]
    """The accelerators of its pools."""


class TeamQueues(Struct, frozen=True, eq=False):
    """The queues of all teams; empty without a spec."""

    teams: Mapping[str, Collection[str]] = field(default_factory=dict)
    """The teams of each namespace."""
    by_name: Mapping[str, TeamQueue] = field(default_factory=dict)

    def of(self, namespace: str, resources: Collection[str] = ()) -> Sequence[str]:
        """The queues of a namespace's teams that offer all these accelerators."""
        teams = self.teams.get(namespace, ())
        return [
            queue.name
            for queue in self.by_name.values()
            if queue.team in teams and set(resources).issubset(queue.resources)
        ]


def team_queues(facts: Facts) -> TeamQueues:
    """Whose queue each is; use it with `facts.derive`."""
    if facts.spec is None or facts.plan is None:
        return TeamQueues()
    teams: dict[str, set[str]] = {}
    for team in facts.spec.teams:
        for namespace in team.namespaces:
            teams.setdefault(namespace.name, set()).add(team.name)
    queues = {
        name: TeamQueue(name, leaf.team.name, {it for pool in tree.pools for it in pool.resources})
        for tree in facts.plan.trees
        if tree.scheduler == "volcano"
        for leaf in tree.leaves
        for name in (tree.name_of(leaf),)
    }
    return TeamQueues(teams, queues)


def parents_of_queues(facts: Facts) -> Mapping[str, str]:
    """The queues of teams that have children, which the spec does not know, with their team; for `facts.derive`."""
    children = facts.cluster.derive(tree).children
    return {
        name: queue.team
        for name, queue in facts.derive(team_queues).by_name.items()
        if children.get(name)
    }
