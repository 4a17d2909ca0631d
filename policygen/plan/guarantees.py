"""Which gangs of Volcano need more than their team deserves, also with higher guarantees."""

from msgspec.structs import replace

from policygen.plan.assignment import Assignment
from policygen.plan.resource_sum import ResourceSum
from policygen.plan.tree import TeamNode, Tree
from policygen.plan.volcano import deserved_amounts


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
    deserved = deserved_amounts(tree)
    amounts = ((it, node, need, deserved[node.name][one.resource]) for it, node, need in gangs)
    return [found for found in amounts if found[2] > found[3]]


def with_guarantees(tree: Tree, names: set[str], pool: str, resource: str, more: int) -> Tree:
    """The tree with higher guarantees of some nodes on a pool."""
    nodes = [
        _with_guarantee(node, pool, resource, more) if node.name in names else node
        for node in tree.nodes
    ]
    return replace(tree, nodes=tuple(nodes))


def _with_guarantee(node: TeamNode, pool: str, resource: str, more: int) -> TeamNode:
    amounts = node.guarantee[pool]
    return replace(
        node, guarantee={**node.guarantee, pool: {**amounts, resource: amounts[resource] + more}}
    )
