"""A ClusterQueue lends its quota and cannot reclaim it."""

from collections.abc import Mapping, Sequence

from policygen.lint.kueue.cohorts import Cell, CohortNode, forest
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """With reclaimWithinCohort Never, the default, its jobs wait until the borrowers finish.

    Source: concepts/preemption.md; apis/kueue/v1beta2/clusterqueue_types.go.
    """
    trees = facts.cluster.derive(forest)
    nodes = [node for node in trees.queues.values() if node.parent is not None and not node.cyclic]
    borrowers: dict[tuple[str, Cell], list[CohortNode]] = {}
    for node in nodes:
        root = node.root().name
        for cell, quota in node.quotas.items():
            if quota.borrowing_limit != 0:
                borrowers.setdefault((root, cell), []).append(node)
    for node in nodes:
        yield from _claims(node, borrowers)


def _claims(node: CohortNode, borrowers: Mapping[tuple[str, Cell], Sequence[CohortNode]]) -> Hits:
    """At most one hit: for the first quota that another queue can borrow."""
    queue = node.queue
    if queue is None:
        return
    preemption = queue.fields.preemption
    if preemption is not None and preemption.reclaim_within_cohort != "Never":
        return
    root = node.root().name
    for cell, quota in node.quotas.items():
        if quota.nominal_quota <= 0 or quota.lending_limit == 0:
            continue
        two = borrowers.get((root, cell), ())[:2]  # at least one of them is another queue
        others = [it for it in two if it is not node]
        if others:
            yield Hit(
                RULE,
                f"{queue} lends {cell[1]} of flavor {cell[0]} to ClusterQueue {others[0].name} and "
                "cannot reclaim this quota, because reclaimWithinCohort is Never; write "
                "reclaimWithinCohort: Any or LowerPriority",
                queue.at.to("spec", "preemption", "reclaimWithinCohort"),
                related=tuple(it.queue.at for it in others[:1] if it.queue),
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
