"""The teams of a spec: their tree, their namespaces and their quotas."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from policygen.adopt import kube_scheduler, namespaces
from policygen.adopt.kube_scheduler import NamespaceLimits
from policygen.adopt.namespaces import Space
from policygen.adopt.quotas import HERE, quotas
from policygen.adopt.trees import TeamTree, ancestors
from policygen.adopt.weights import weights
from policygen.plan.kubernetes import COUNTED
from policygen.plan.pool import PoolFacts
from policygen.spec.name_errors import MAX_LABEL
from policygen.spec.types import NodeResources, Quota, Team, TeamNamespace


class TeamInput(Struct, frozen=True):
    """What teams are inferred from."""

    trees: Sequence[TeamTree]
    limits: Sequence[NamespaceLimits]
    facts: Mapping[str, PoolFacts]
    owned: Mapping[str, tuple[str, ...]]
    """The namespaces of each team."""
    spaces: Mapping[str, Space]
    weights: Mapping[str, Mapping[str, int]]
    """By queue and team: see `weights_of`."""

    def spaces_of(self, team: str) -> list[Space]:
        """The namespaces of a team of which anything is known."""
        return [self.spaces[it] for it in self.owned.get(team, ()) if it in self.spaces]

    def defaults_of(self, team: str) -> NodeResources | None:
        """The requests that the namespaces of a team give to containers."""
        return next((it.defaults for it in self.spaces_of(team) if it.defaults), None)


def teams(given: TeamInput) -> Iterator[Team]:
    """Every team that has a queue, a quota or a namespace of its own."""
    parent = parents(given.trees)
    listed, inherited = _quotas(given)
    limits_of = namespaces.limits_of(given.trees)
    for team in dict.fromkeys((*parent, *listed, *given.owned)):
        mine = given.spaces_of(team)
        yield Team(
            name=team,
            at=HERE,
            parent=parent.get(team),
            namespaces=tuple(
                TeamNamespace(it, it in given.spaces and given.spaces[it].created)
                for it in given.owned.get(team, ())
            ),
            max_pending=_max_pending(team, mine, listed.get(team, ()), given.facts, limits_of),
            quotas=tuple(listed.get(team, ())),
            container_defaults=given.defaults_of(team) or (None if mine else inherited.get(team)),
        )
    for team in parent:
        if not given.owned.get(team) and team not in parent.values():
            # A team needs a namespace or a child team; its objects show neither.
            name = members_of(team)
            yield Team(name, HERE, parent=team, namespaces=(TeamNamespace(name),))


def parents(trees: Sequence[TeamTree]) -> dict[str, str | None]:
    """The team above each team with a queue.

    Queues of Kueue and Volcano can contradict each other; a team that would be above itself has no parent.
    """
    parent: dict[str, str | None] = {}
    for tree in trees:
        for branch in tree.branches:
            if not branch.own:
                above = parent.get(branch.team) or branch.above
                chain = () if above is None else (above, *ancestors(above, parent))
                parent[branch.team] = None if branch.team in chain else above
    return parent


def weights_of(trees: Iterable[TeamTree]) -> dict[str, dict[str, int]]:
    """By queue, the weights of the teams that share what Volcano does not reserve.

    Where teams reclaim, what a queue deserves is the guarantee of its team, and weights decide nothing.
    """
    return {
        it.queue: weights(it) for it in trees if it.scheduler == "volcano" and it.preempts is False
    }


def members_of(team: str) -> str:
    """The name of the child team, and of its namespace, that a team gets if objects show neither."""
    return f"{team}-members"[-MAX_LABEL:].strip("-")


def _quotas(
    given: TeamInput,
) -> tuple[dict[str, list[Quota]], dict[str, NodeResources]]:
    """The quotas of each team, and the containerDefaults that teams above need for them."""
    listed: dict[str, list[Quota]] = {}
    inherited: dict[str, NodeResources] = {}
    for tree in given.trees:
        shown = given.weights.get(tree.queue, {})
        for team, found in quotas(tree, given.facts, shown).items():
            listed.setdefault(team, []).extend(found)
    of_quotas = kube_scheduler.pools_of(given.limits)
    for limit in given.limits:
        own = kube_scheduler.quotas(of_quotas[limit.team], given.facts)
        listed.setdefault(limit.team, []).extend(own)
    for limit in given.limits:
        defaults = given.defaults_of(limit.team)
        for above in limit.above:  # a team has a quota only in pools of the team above
            there = {it.pool for it in listed.get(above, ())}
            names = [it.name for it in of_quotas[limit.team] if it.name not in there]
            listed.setdefault(above, []).extend(Quota(it, HERE) for it in names)
            if defaults is not None:
                inherited[above] = defaults
    return listed, inherited


def _max_pending(
    team: str,
    mine: Sequence[Space],
    listed: Sequence[Quota],
    facts: Mapping[str, PoolFacts],
    limits_of: Mapping[tuple[str, str], Mapping[str, int]],
) -> int | None:
    """How many more objects a ResourceQuota counts than can run."""
    on_kube = [it for it in listed if facts[it.pool].scheduler == "kube-scheduler"]
    plain = sum(count for quota in on_kube for _, count in quota.limit or ())
    queued = {
        scheduler: sum(limits_of.get((team, scheduler), {}).values()) for scheduler in COUNTED
    }
    for space in mine:
        for scheduler, key in COUNTED.items():
            if key in space.hard and (key != "pods" or on_kube):
                running = queued[scheduler]
                if key == "pods":
                    running = plain + sum(queued.values())
                return max(space.hard[key] - running, 0)
    return None
