"""Guesses about values that a spec must have and no object shows, or that it cannot have."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from policygen.adopt import namespaces
from policygen.adopt.teams import members_of
from policygen.adopt.trees import Guess, TeamBranch, TeamTree
from policygen.adopt.volcano import unreclaimable
from policygen.adopt.weights import deserved_units
from policygen.core.quoting import listed, some
from policygen.core.versions import DEFAULT
from policygen.kubernetes.cluster import Cluster
from policygen.plan.amounts import CPU, MEMORY
from policygen.spec.types import Platform, Pool, Quota, Team

Weights = Mapping[str, Mapping[str, int]]
"""The weights that were found, by queue and team."""
_Quotas = Mapping[tuple[str, str], tuple[int, Quota]]
"""By team and pool: the index of a quota in its team, and the quota."""


def of_queues(
    trees: Iterable[TeamTree], weights: Weights, teams: Iterable[Team]
) -> Iterator[Guess]:
    """What a spec cannot say about queues, and the limits that no queue has."""
    quotas = {
        (team.name, it.pool): (number, it)
        for team in teams
        for number, it in enumerate(team.quotas)
    }
    for tree in trees:
        if tree.scheduler == "volcano":
            yield from _of_volcano(tree, weights, quotas)
        yield from _limits(tree, quotas)


def _limits(tree: TeamTree, quotas: _Quotas) -> Iterator[Guess]:
    """The limits of cpu and memory that only keep the guarantee: the limit of the GPUs would be too small."""
    for branch in (it for it in tree.branches if not it.own):
        for pool in tree.pools:
            found = quotas.get((branch.team, pool))
            if found is None:
                continue
            number, quota = found
            for name, bounds in ((CPU, quota.cpu), (MEMORY, quota.memory)):
                if bounds.limit is not None and name not in branch.limit.get(pool, {}):
                    text = (
                        f"Guess: the queue has no limit of {name}. Without this field, policygen derives a limit "
                        "from the limit of GPUs, which is less than the guarantee."
                    )
                    yield Guess(
                        "Team", branch.team, ("spec", "quotas", number, name, "limit"), text
                    )


def _of_volcano(tree: TeamTree, weights: Weights, quotas: _Quotas) -> Iterator[Guess]:
    """What one value of a pool, or the weights of its teams, cannot say."""
    if names := unreclaimable(tree):
        queues = some([f"Queue {it}" for it in names], "other")
        text = (
            f"Guess: reclaimable is false for {queues}, and true for others; all Queues of a pool have "
            "one value. Set preemptionEnabled of schedulingPolicy to false if no team may reclaim."
        )
        yield Guess("ResourcePool", tree.queue, ("spec", "scheduler"), text)
    for branch in tree.branches if tree.preempts is False else ():
        amounts = deserved_units(branch, tree)
        if branch.own or branch.team in weights[tree.queue] or not any(amounts.values()):
            continue
        shown = ", ".join(f"{count} {name}" for name, count in amounts.items())
        number, _ = quotas.get((branch.team, tree.queue), (0, None))
        text = f"Guess: Queue {branch.name} deserves {shown}; no weights of the teams give this amount."
        yield Guess("Team", branch.team, ("spec", "quotas", number), text)


def of_sums(teams: Iterable[Team], pools: Iterable[Pool]) -> Iterator[Guess]:
    """The limits of cpu and memory in several pools of a team, of which ResourceQuotas show only the sum."""
    counting = {it.name for it in pools if it.quota_cpu_and_memory}
    for team in teams:
        numbers = [
            number
            for number, it in enumerate(team.quotas)
            if it.pool in counting and it.cpu.limit is not None
        ]
        if len(numbers) > 1:
            yield Guess("Team", team.name, ("spec", "quotas", numbers[0], "cpu"), _SUMS)


def of_members(found: Iterable[Team], owned: Collection[str]) -> Iterator[Guess]:
    """The guesses about child teams that no object shows."""
    for team in found:
        if team.parent and team.name == members_of(team.parent) and team.name not in owned:
            yield Guess("Team", team.name, ("metadata", "name"), _MEMBERS)


def of_namespaces(
    cluster: Cluster,
    trees: Sequence[TeamTree],
    owned: Mapping[str, Sequence[str]],
    guessed: Iterable[str],
    shared: Iterable[tuple[TeamBranch, str]],
) -> Iterator[Guess]:
    """The guesses about the namespaces of teams. `shared` are queues that admit those of other teams."""
    reasons = {it.team: f"Guess: {text}." for it, text in shared}
    of_jobs, there = namespaces.in_queues(cluster, trees), namespaces.existing(cluster)
    for team in sorted(it for it in guessed if it in owned and it not in of_jobs):
        names = [it for it in owned[team] if it in there]
        text = _NAMESPACES
        if names:
            verb = "has" if len(names) == 1 else "have"
            text = f"Guess: no queue names the namespaces of this team; {listed(names, 'and')} {verb} its name."
        yield Guess("Team", team, ("spec", "namespaces"), reasons.get(team, text))


def of_version(platform: Platform) -> Iterator[Guess]:
    """The guess about the release of Kueue, if it is not the default."""
    if platform.target.kueue != DEFAULT["kueue"]:
        path = ("spec", "target", "kueue")
        yield Guess("Platform", platform.name, path, _VERSION)


_MEMBERS = "Guess: no object shows a namespace or a child team of the team above, and each team needs one of them."
_NAMESPACES = "Guess: no object shows in which namespaces this team works."
_SUMS = "Guess: the ResourceQuotas show only the sum of cpu and of memory of these pools, not the limit in each of them."
_VERSION = "Guess: this is the newest release with the API versions of the objects. Write that of your cluster."
