"""Which models of Volcano need more than their team deserves, also with higher guarantees."""

from msgspec.structs import replace

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

    Empty for Kueue, where the guarantee of a team does not depend on other teams.
    """
    if tree.scheduler != "volcano" or not one.lends:
        return set()
    deserved, pool = claims(tree), tree.pools[0].name
    gangs = {f"model {it.model.name}" for it, *_ in short_gangs(tree, one)}
    teams = {
        f"team {node.name}"
        for node in tree.leaves
        if sum(it.always for it in one.of_leaf(node)) > deserved[node.name][pool][one.resource]
    }
    return gangs | teams


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
