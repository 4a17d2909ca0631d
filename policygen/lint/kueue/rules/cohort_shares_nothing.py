"""A ClusterQueue has no flavor in common with the other queues of its cohort."""

from collections import Counter

from policygen.lint.kueue.cohorts import Cell, CohortNode, forest
from policygen.lint.kueue.flavor_nodes import overlaps
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Quota is lent per flavor and resource, and a queue can borrow only the pairs that it lists.

    Source: pkg/cache/scheduler/resource_node.go; issues 8840, 12949.
    """
    trees = facts.cluster.derive(forest)
    twins = {
        flavor.name for pair in facts.cluster.derive(overlaps) for flavor in (pair.one, pair.other)
    }
    nodes: list[tuple[str, CohortNode]] = []
    holders: Counter[tuple[str, Cell]] = Counter()
    queues: Counter[str] = Counter()
    for node in (*trees.cohorts.values(), *trees.queues.values()):
        if not node.cyclic and (node.queue is None or node.parent is not None):
            root = node.root().name
            nodes.append((root, node))
            queues[root] += node.queue is not None
            holders.update((root, cell) for cell in node.quotas)
    for root, node in nodes:
        queue, quotas = node.queue, node.quotas
        alone = all(holders[root, cell] == 1 for cell in quotas)
        twin = any(flavor in twins for flavor, _ in quotas)
        if queue is not None and queues[root] > 1 and quotas and alone and not twin:
            yield Hit(
                RULE,
                f"{queue} has no flavor in common with the other queues of its cohort, so it can "
                "neither borrow nor lend; list the flavors of the other queues with nominalQuota "
                "0, or remove cohortName",
                queue.at.to("spec", "cohortName"),
            )


RULE = ObjectRule(
    "cohort-shares-nothing",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="List the flavors of the other queues with nominalQuota 0, or remove cohortName.",
    judges=("ClusterQueue",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("Cohort", "Node", "ResourceFlavor"),
)
