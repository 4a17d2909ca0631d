"""Guesses about values of Volcano's Queues that a spec cannot have."""

from collections.abc import Iterable, Iterator, Mapping

from policygen.adopt.trees import Guess, TeamTree
from policygen.adopt.volcano import unreclaimable
from policygen.adopt.weights import deserved_units
from policygen.core.quoting import some
from policygen.spec.types import Team


def of_volcano(
    trees: Iterable[TeamTree], weights: Mapping[str, Mapping[str, int]], teams: Iterable[Team]
) -> Iterator[Guess]:
    """What one value of a pool, or the weights of its teams, cannot say. `weights` are those that were found."""
    index = {
        (team.name, it.pool): number for team in teams for number, it in enumerate(team.quotas)
    }
    for tree in trees:
        if tree.scheduler != "volcano":
            continue
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
            number = index.get((branch.team, tree.queue), 0)
            text = f"Guess: Queue {branch.name} deserves {shown}; no weights of the teams make this amount."
            yield Guess("Team", branch.team, ("spec", "quotas", number), text)
