"""What each team can take back from the teams that borrow it, and no other team can reclaim from it."""

from collections.abc import Mapping

from policygen.plan.amounts import Vector
from policygen.plan.tree import Tree
from policygen.plan.volcano import deserved_amounts


def claims(tree: Tree) -> Mapping[str, Mapping[str, Vector]]:
    """The amounts by the name of the team's queue, and by pool.

    Kueue reclaims what exceeds the guarantee. Volcano reclaims only what exceeds `deserved`, which
    contains the guarantee, and only if the pool has preemption. Source: docs/semantics.md, "Reclaim
    with Volcano".
    """
    if tree.scheduler == "volcano" and tree.pools[0].policy.preemption_enabled:
        pool = tree.pools[0].name
        return {name: {pool: it} for name, it in deserved_amounts(tree).items()}
    return {it.name: it.guarantee for it in tree.nodes}
