"""A ClusterQueue has no flavor in common with the other queues of its cohort."""

from collections import Counter
from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.kueue.cohorts import Cell, Node, forest
from policygen.lint.kueue.flavor_nodes import overlaps
from policygen.lint.rule import Facts, Family, Need, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Quota is lent per flavor and resource, and a queue can borrow only the pairs that it lists.

    Source: pkg/cache/scheduler/resource_node.go; issues 8840, 12949.
    """
    trees = facts.cluster.derive(forest)
    twins = {
        flavor.name for pair in facts.cluster.derive(overlaps) for flavor in (pair.one, pair.other)
    }
    alike: dict[tuple[str, int], list[Node]] = {}
    for node in (*trees.cohorts.values(), *trees.queues.values()):
        if not node.cyclic and (node.queue is None or node.parent is not None):
            alike.setdefault((node.root().name, id(node.quotas)), []).append(node)
    holders: Counter[tuple[str, Cell]] = Counter()
    queues: Counter[str] = Counter()
    for (root, _), nodes in alike.items():
        queues[root] += sum(node.queue is not None for node in nodes)
        for cell in nodes[0].quotas:
            holders[root, cell] += len(nodes)
    for (root, _), nodes in alike.items():
        quotas = nodes[0].quotas
        alone = all(holders[root, cell] == 1 for cell in quotas)
        if queues[root] < 2 or not quotas or not alone:
            continue
        if any(flavor in twins for flavor, _ in quotas):
            continue
        for queue in (node.queue for node in nodes if node.queue is not None):
            yield Hit(
                RULE,
                f"{queue} has no flavor in common with the other queues of its cohort, so it can "
                "neither borrow nor lend; list their flavors with nominalQuota 0, or leave the "
                "cohort",
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
    reads=("Cohort", "ResourceFlavor"),
)
