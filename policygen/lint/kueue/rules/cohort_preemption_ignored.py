"""A ClusterQueue may preempt in its cohort, but this setting cannot have an effect."""

from collections.abc import Iterator, Mapping, Sequence

from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue import BorrowWithinCohort, Preemption
from policygen.lint.kueue.cohorts import Cell, CohortNode, Forest, cohort_field, forest
from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.quotas import owners
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """A queue reclaims only its own quota, or quota of a cohort below the root.

    While it borrows, it preempts only queues above their nominal quota.
    With fair sharing, a queue without quota can preempt too. Source: concepts/preemption.md;
    pkg/scheduler/preemption/classical, collectCandidatesForHierarchicalReclaim.
    """
    trees = facts.cluster.derive(forest)
    borrowers = _borrowers(trees)
    shares = settings(facts).fair_sharing or _has_weights(facts.cluster)
    for queue in facts.cluster.cluster_queues:
        node, preemption = trees.queues[queue.name], queue.fields.preemption
        if preemption is None or node.queue is not queue or node.cyclic:
            continue
        others = [
            other
            for cell in _cells(node)
            for other in borrowers.get((node.root().name, cell), ())
            if other is not node
        ]
        for path, message in _faults(node, preemption, others, shares=shares):
            yield Hit(RULE, f"{queue} has {message}", queue.at.to("spec", "preemption", *path))
            break


def _faults(
    node: CohortNode, preemption: Preemption, others: Sequence[CohortNode], *, shares: bool
) -> Iterator[tuple[tuple[str, ...], str]]:
    """The paths of fields without effect, each with a message."""
    reclaim, within = preemption.reclaim_within_cohort, "borrowWithinCohort"
    borrow = preemption.borrow_within_cohort or BorrowWithinCohort()
    borrows = borrow.policy != "Never"
    if reclaim != "Never" and node.parent is None and node.queue is not None:
        other = "remove reclaimWithinCohort"
        if preemption.within_cluster_queue == "Never":
            other = "withinClusterQueue: LowerPriority for preemption in the queue"
        message = (
            f"reclaimWithinCohort: {reclaim} but belongs to no cohort, so the setting has no effect; "
            f"write {cohort_field(node.queue)}, or {other}"
        )
        yield ("reclaimWithinCohort",), message
    elif reclaim != "Never" and not shares and not borrows and not _can_reclaim(node):
        message = (
            f"reclaimWithinCohort: {reclaim} but no quota of {_first(node)} to reclaim, so its jobs "
            "never preempt other queues; raise nominalQuota, or write reclaimWithinCohort: Never"
        )
        yield ("reclaimWithinCohort",), message
    if borrows and not shares and all(it.borrowing_limit == 0 for it in node.quotas.values()):
        message = (
            "borrowWithinCohort, which has no effect because every borrowingLimit is 0; raise "
            "borrowingLimit, or remove borrowWithinCohort"
        )
        yield (within, "policy"), message
    elif borrows and not shares and node.parent and not others and not _can_reclaim(node):
        message = (
            f"{within}, but no other queue of its cohort can borrow {_first(node)}, so there is nothing "
            f"to preempt; raise nominalQuota, or remove {within}"
        )
        yield (within, "policy"), message
    if not borrows and borrow.max_priority_threshold is not None:
        message = (
            f"a maxPriorityThreshold, which has no effect while the policy of {within} is Never; write "
            "policy: LowerPriority, or remove the threshold"
        )
        yield (within, "maxPriorityThreshold"), message


def _can_reclaim(node: CohortNode) -> bool:
    """Whether quota of the queue's GPUs belongs to it; without GPUs, of any of its resources."""
    cells = _cells(node)
    if all(node.ceiling(cell) == 0 for cell in cells):
        return True  # no-quota-anywhere reports it
    return any(map(node.owns, cells))


def _cells(node: CohortNode) -> list[Cell]:
    return [cell for cell in node.quotas if is_one(cell[1])] or list(node.quotas)


def _borrowers(trees: Forest) -> Mapping[tuple[str, Cell], Sequence[CohortNode]]:
    """Up to two queues that can use more than their nominal quota, by root, flavor and resource."""
    found: dict[tuple[str, Cell], list[CohortNode]] = {}
    for node in trees.queues.values():
        root = "" if node.cyclic else node.root().name
        for cell, quota in node.quotas.items() if root else ():
            known = found.setdefault((root, cell), [])
            if len(known) < 2 and node.ceiling(cell) > quota.nominal_quota:
                known.append(node)
    return found


def _first(node: CohortNode) -> str:
    """A resource that a message names: an accelerator, if the queue has one."""
    names = [resource for _, resource in node.quotas]
    return next(filter(is_one, names), names[0])


def _has_weights(cluster: Cluster) -> bool:
    """Whether an object has a weight, so that Kueue's Configuration probably enables fair sharing."""
    return any(owner.fields.fair_sharing for owner in owners(cluster))


RULE = ObjectRule(
    "cohort-preemption-ignored",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Set cohortName and nominalQuota so that the queue can preempt, or set the policy to Never.",
    judges=("ClusterQueue",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("ClusterQueue", "Cohort", "Configuration"),
)
