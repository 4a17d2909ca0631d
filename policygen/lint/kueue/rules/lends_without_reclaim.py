"""A ClusterQueue lends its quota and cannot reclaim it."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.kueue.cohorts import Cell, Node, forest
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """With reclaimWithinCohort Never, the default, its jobs wait until the borrowers finish.

    Source: concepts/preemption.md; apis/kueue/v1beta2/clusterqueue_types.go.
    """
    trees = facts.cluster.derive(forest)
    alike: dict[tuple[str, int], list[tuple[int, Node]]] = {}
    for number, node in enumerate(trees.queues.values()):
        if node.parent is not None and not node.cyclic:
            alike.setdefault((node.root().name, id(node.quotas)), []).append((number, node))
    borrowers: dict[tuple[str, Cell], list[tuple[int, str]]] = {}
    for (root, _), nodes in alike.items():
        for cell, quota in nodes[0][1].quotas.items():
            if quota.borrowing_limit != 0:
                # At least one of the first two is not the queue itself.
                some = [(number, node.name) for number, node in nodes[:2]]
                borrowers[root, cell] = sorted([*borrowers.get((root, cell), ()), *some])[:2]
    for (root, _), nodes in alike.items():
        lent = [
            (cell, names)
            for cell, quota in nodes[0][1].quotas.items()
            if quota.nominal_quota > 0
            and quota.lending_limit != 0
            and (names := [name for _, name in borrowers.get((root, cell), ())])
        ]
        for _, node in nodes if lent else ():
            yield from _claims(node, lent)


def _claims(node: Node, lent: list[tuple[Cell, list[str]]]) -> Iterator[Hit]:
    """At most one hit: for the first quota that another queue can borrow."""
    queue = node.queue
    if queue is None:
        return
    preemption = queue.it.preemption
    if preemption is not None and preemption.reclaim_within_cohort != "Never":
        return
    for cell, names in lent:
        others = [name for name in names if name != node.name]
        if others:
            yield Hit(
                RULE,
                f"{queue} lends {cell[1]} of flavor {cell[0]} to ClusterQueue {others[0]} and "
                "cannot reclaim it, because reclaimWithinCohort is Never; write Any or "
                "LowerPriority",
                queue.at.to("spec", "preemption", "reclaimWithinCohort"),
            )
            return


RULE = ObjectRule(
    "lends-without-reclaim",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Set reclaimWithinCohort to Any or LowerPriority, or lower the lendingLimit.",
    judges=("ClusterQueue",),
    check=check,
    reads=("Cohort",),
)
