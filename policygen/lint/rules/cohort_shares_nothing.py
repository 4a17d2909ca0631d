"""A ClusterQueue has nothing in common with the others of its cohort."""

from collections import Counter
from collections.abc import Iterator

from policygen.cluster.kueue import ClusterQueue
from policygen.cluster.table import Entry
from policygen.finding import Severity
from policygen.lint.cohorts import Cell, Node, forest
from policygen.lint.flavor_nodes import overlaps
from policygen.lint.rule import Claim, Facts, Family, Need, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """Quota is lent by flavor and resource, and only a listed pair can be borrowed.

    Source: pkg/cache/scheduler/resource_node.go; issues 8840, 12949.
    """
    trees = facts.cluster.derive(forest)
    twins = {it.name for pair in facts.cluster.derive(overlaps) for it in (pair.one, pair.other)}
    holders: dict[str, Counter[Cell]] = {}
    queues: dict[str, list[tuple[Node, Entry[ClusterQueue]]]] = {}
    for node in (*trees.cohorts.values(), *trees.queues.values()):
        if node.cyclic or (node.queue is not None and node.parent is None):
            continue
        root = node.root().name
        holders.setdefault(root, Counter()).update(node.quotas.keys())
        if node.queue is not None:
            queues.setdefault(root, []).append((node, node.queue))
    for root, members in queues.items():
        for node, queue in members if len(members) > 1 else ():
            alone = all(holders[root][cell] == 1 for cell in node.quotas)
            if not node.quotas or not alone or any(flavor in twins for flavor, _ in node.quotas):
                continue
            yield Claim(
                f"{queue} shares no flavor with the others of its cohort, so it can neither borrow "
                "nor lend; list the others' flavors with nominalQuota 0, or take it out",
                queue.at.to("spec", "cohortName"),
            )


RULE = Rule(
    "cohort-shares-nothing",
    Severity.WARNING,
    Family.INERT,
    judges=("ClusterQueue",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("Cohort", "ResourceFlavor"),
)
