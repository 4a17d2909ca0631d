"""Which models of Volcano need more than their team deserves, also with higher guarantees and limits."""

from collections.abc import Collection, Mapping

from msgspec.structs import replace

from policygen.plan.amounts import Vector
from policygen.plan.assignment import Assignment
from policygen.plan.claims import claims
from policygen.plan.resource_sum import ResourceSum
from policygen.plan.tree import TeamNode, Tree


def short_gangs(tree: Tree, one: ResourceSum) -> list[tuple[Assignment, TeamNode, int, int]]:
    """Gangs with their leaf, what they need, and what their team deserves, if this is less.

    Reclaim takes what a queue uses above its deserved amount, also a part of a gang. Source:
    tests/servers/test_volcano_behaviour.py, test_a_gang_that_borrowed_gives_only_...
    """
    gangs = [
        (it, it.node, it.replicas.piece[one.resource])
        for them in one.by_leaf.values()
        for it in them
        if it.node is not None
        and it.model.gang is not None
        and it.model.workload != "serving"
        and it.size.resource == one.resource
        and not it.rank.gang
        and not it.rank.limit
    ]
    if tree.scheduler != "volcano" or not one.lends or not gangs:
        return []
    deserved = claims(tree)
    pool = tree.pools[0].name
    amounts = (
        (it, node, need, deserved[node.name][pool][one.resource]) for it, node, need in gangs
    )
    return [found for found in amounts if found[2] > found[3]]


def short(tree: Tree, one: ResourceSum) -> set[str]:
    """The gangs, and the teams with serving models, that need more than their team deserves.

    What models need above the limit of their team is another finding.
    """
    deserved, pool = claims(tree), tree.pools[0].name
    gangs = {f"model {it.model.name}" for it, *_ in short_gangs(tree, one)}
    teams = {
        f"team {node.name}"
        for node in tree.leaves
        if min(sum(it.always for it in one.of_leaf(node)), node.limit[pool][one.resource])
        > deserved[node.name][pool][one.resource]
    }
    return gangs | teams


def with_more(
    tree: Tree, one: ResourceSum, names: Collection[str], *, guarantee: int = 0, limit: int = 0
) -> Tree:
    """The tree with a higher guarantee and limit of some nodes, of the resource and first pool of a sum."""
    pool, resource = one.pools[0].name, one.resource

    def grown(amounts: Mapping[str, Vector], more: int) -> Mapping[str, Vector]:
        return {**amounts, pool: {**amounts[pool], resource: amounts[pool][resource] + more}}

    nodes = [
        replace(node, guarantee=grown(node.guarantee, guarantee), limit=grown(node.limit, limit))
        if node.name in names
        else node
        for node in tree.nodes
    ]
    return replace(tree, nodes=tuple(nodes))
