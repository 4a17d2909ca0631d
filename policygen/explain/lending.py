"""Who may borrow from whom in the tree of a queue, and whether the lender can take it back."""

from collections.abc import Iterator

from policygen.plan.claims import claims
from policygen.plan.tree import TeamNode, Tree


class Lending:
    """Borrowing among the teams of one queue.

    What a team can take back is its guarantee; of Volcano with preemption, `deserved`. What it uses
    above that amount, up to its limit, is borrowed.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.exists = tree.scheduler != "kube-scheduler"
        """Whether a scheduler lends at all."""
        self.reclaims = self.exists and tree.pools[0].policy.preemption_enabled
        """Whether teams lend to others what they are guaranteed. Then they can take it back."""
        self._claims = claims(tree)

    def claim(self, node: TeamNode, pool: str, resource: str) -> int:
        """What a node can take back."""
        return self._claims[node.name][pool][resource]

    def room(self, node: TeamNode, pool: str, resource: str) -> int:
        """How much a node may borrow."""
        return node.limit[pool][resource] - self.claim(node, pool, resource)

    def own(self, node: TeamNode | None, pool: str, resource: str) -> int:
        """The claim of a node without those of its children; of the root, what no team can claim."""
        if node is None:
            whole = next(it for it in self.tree.pools if it.name == pool).available[resource]
        else:
            whole = self.claim(node, pool, resource)
        children = self.tree.by_parent.get(node.name if node else None, ())
        return whole - sum(self.claim(it, pool, resource) for it in children)

    def borrowers(self, lender: TeamNode | None, pool: str, resource: str) -> Iterator[TeamNode]:
        """The leaves that may use what a node does not use of its own amount. None: the root."""
        if self._lends(lender, pool, resource):
            yield from (it for it in self.tree.leaves if self._reaches(it, lender, pool, resource))

    def lenders(self, borrower: TeamNode, pool: str, resource: str) -> tuple[str, ...]:
        """The teams whose idle amounts a leaf may use, and the pool itself if it has a rest."""
        found = {
            "" if it is None else it.team.name: None
            for it in (*self.tree.nodes, None)
            if self._lends(it, pool, resource) and self._reaches(borrower, it, pool, resource)
        }
        return tuple(name or f"the rest of {self.tree.queue}" for name in found)

    def _lends(self, lender: TeamNode | None, pool: str, resource: str) -> bool:
        """Whether others may use what a node has and does not use."""
        return self.exists and self.own(lender, pool, resource) > 0

    def _reaches(self, leaf: TeamNode, lender: TeamNode | None, pool: str, resource: str) -> bool:
        """Whether a leaf, and each node between it and what is also above the lender, may borrow.

        Without preemption, a node lends only to those below it: its lendingLimit is 0.
        """
        if leaf is lender:
            return False
        if lender is not None and not self.reclaims and lender not in self.tree.ancestors(leaf):
            return False
        above = {it.name for it in (lender, *self.tree.ancestors(lender))} if lender else set()
        node: TeamNode | None = leaf
        while node is not None and node.name not in above:
            if self.room(node, pool, resource) <= 0:
                return False
            node = self.tree.parent(node)
        return True
