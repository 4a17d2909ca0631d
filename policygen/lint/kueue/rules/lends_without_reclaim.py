"""A ClusterQueue lends its quota and cannot reclaim it."""

from collections.abc import Iterable, Mapping, Sequence

from policygen.kubernetes.accelerators import is_one
from policygen.lint.kueue.cohorts import Cell, CohortNode, forest
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """With reclaimWithinCohort Never, the default, its jobs wait until the borrowers finish.

    Source: concepts/preemption.md; apis/kueue/v1beta2/clusterqueue_types.go.
    """
    trees = facts.cluster.derive(forest)
    nodes = [node for node in trees.queues.values() if node.parent is not None and not node.cyclic]
    borrowers = _borrowers(nodes)
    for node in nodes:
        yield from _claims(node, borrowers)


def _borrowers(nodes: Iterable[CohortNode]) -> Mapping[tuple[str, Cell], Sequence[CohortNode]]:
    """Up to two queues below a cohort that can borrow from it, by cohort, flavor and resource."""
    found: dict[tuple[str, Cell], list[CohortNode]] = {}
    for queue in nodes:
        for cell in queue.quotas:
            node = queue
            while node.parent is not None and _borrows(node, cell):
                others = found.setdefault((node.parent.name, cell), [])
                if len(others) == 2:
                    break  # the cohorts above have two queues as well
                others.append(queue)
                node = node.parent
    return found


def _borrows(node: CohortNode, cell: Cell) -> bool:
    quota = node.quotas.get(cell)
    return quota is None or quota.borrowing_limit != 0


def _lends(node: CohortNode, cell: Cell) -> bool:
    quota = node.quotas.get(cell)
    return quota is None or quota.lending_limit != 0


def _claims(node: CohortNode, borrowers: Mapping[tuple[str, Cell], Sequence[CohortNode]]) -> Hits:
    """At most one hit: for the first quota that another queue can borrow."""
    queue = node.queue
    if queue is None:
        return
    preemption = queue.fields.preemption
    if preemption is not None and preemption.reclaim_within_cohort != "Never":
        return
    for cell, quota in sorted(node.quotas.items(), key=_is_native):
        if quota.nominal_quota <= 0:
            continue
        others: list[CohortNode] = []
        lender = node
        while lender.parent is not None and _lends(lender, cell):
            lender = lender.parent
            found = borrowers.get((lender.name, cell), ())
            if others := [other for other in found if other is not node]:
                break
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


def _is_native(item: tuple[Cell, object]) -> bool:
    """A sort key by which quotas of accelerators come first, because they matter most."""
    return not is_one(item[0][1])


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
