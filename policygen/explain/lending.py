"""Who may borrow from whom in the tree of a queue, and whether the lender can take it back."""

from collections.abc import Iterator

from policygen.plan.tree import TeamNode, Tree


def borrowers(tree: Tree, lender: TeamNode | None, pool: str, resource: str) -> Iterator[TeamNode]:
    """The leaves that may use what a node does not use of its own amount. None: the root of the queue."""
    if tree.scheduler == "kube-scheduler" or not own(tree, lender, pool, resource):
        return
    if lender is not None and not lends(tree):
        return
    above = {None, *([it.name for it in (lender, *tree.ancestors(lender))] if lender else [])}
    for leaf in tree.leaves:
        if leaf is not lender and _reaches(tree, leaf, above, pool, resource):
            yield leaf


def lenders(tree: Tree, borrower: TeamNode, pool: str, resource: str) -> tuple[str, ...]:
    """The teams whose idle amounts a leaf may use, and the pool itself if it has a rest."""
    lenders = [
        it.team.name
        for it in tree.nodes
        if it is not borrower and borrower in borrowers(tree, it, pool, resource)
    ]
    if borrower in borrowers(tree, None, pool, resource):
        lenders.append(f"the rest of {tree.queue}")
    return tuple(dict.fromkeys(lenders))


def lends(tree: Tree) -> bool:
    """Whether teams lend what they are guaranteed; then they can take it back."""
    return tree.scheduler != "kube-scheduler" and tree.pools[0].policy.preemption_enabled


def own(tree: Tree, node: TeamNode | None, pool: str, resource: str) -> int:
    """The guarantee of a node without those of its children; of the root, what no team is guaranteed."""
    if node is None:
        return tree.rest[pool][resource]
    children = tree.by_parent.get(node.name, ())
    return node.guarantee[pool][resource] - sum(it.guarantee[pool][resource] for it in children)


def room(node: TeamNode, pool: str, resource: str) -> int:
    """How much a node may borrow."""
    return node.limit[pool][resource] - node.guarantee[pool][resource]


def _reaches(tree: Tree, leaf: TeamNode, above: set[str | None], pool: str, resource: str) -> bool:
    """Whether a leaf and each node between it and one of `above` may borrow."""
    node: TeamNode | None = leaf
    while node is not None and node.name not in above:
        if room(node, pool, resource) <= 0:
            return False
        node = tree.parent(node)
    return True
