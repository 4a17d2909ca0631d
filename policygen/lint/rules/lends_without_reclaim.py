"""A ClusterQueue lends its quota and may not take it back."""

from collections.abc import Iterator

from policygen.finding import Severity
from policygen.lint.cohorts import Cell, Node, forest
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """With reclaimWithinCohort Never, the default, its jobs wait until borrowers end by themselves.

    Source: concepts/preemption.md; apis/kueue/v1beta2/clusterqueue_types.go.
    """
    trees = facts.cluster.derive(forest)
    borrowers: dict[tuple[str, Cell], list[str]] = {}
    mine: list[Node] = []
    for node in trees.queues.values():
        if node.parent is None or node.cyclic:
            continue
        root = node.root().name
        mine.append(node)
        for cell, quota in node.quotas.items():
            if quota.borrowing_limit != 0:
                borrowers.setdefault((root, cell), []).append(node.name)
    for node in mine:
        queue, root = node.queue, node.root().name
        if queue is None:
            continue
        preemption = queue.it.preemption
        if preemption is not None and preemption.reclaim_within_cohort != "Never":
            continue
        for cell, quota in node.quotas.items():
            others = [name for name in borrowers.get((root, cell), [])[:2] if name != node.name]
            if others and quota.nominal_quota > 0 and quota.lending_limit != 0:
                yield Claim(
                    f"{queue} lends {cell[1]} of flavor {cell[0]} to ClusterQueue {others[0]} and "
                    "cannot take it back, since reclaimWithinCohort is Never; write Any or "
                    "LowerPriority",
                    queue.at.to("spec", "preemption", "reclaimWithinCohort"),
                )
                break


RULE = Rule(
    "lends-without-reclaim",
    Severity.WARNING,
    Family.INERT,
    judges=("ClusterQueue",),
    check=check,
    reads=("Cohort",),
)
