"""A ClusterQueue may preempt in its cohort, but this setting cannot have an effect."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from policygen.core.amounts import written
from policygen.core.quoting import some
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue import BorrowWithinCohort, Preemption
from policygen.lint.kueue.cohorts import Cell, CohortNode, Forest, cohort_field, forest, joined
from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.quotas import nominal_quotas, owners, quotas
from policygen.lint.kueue.rules import cohort_never_borrows, cohort_shares_nothing
from policygen.lint.other_rules import places
from policygen.lint.rule import (
    Edit,
    Facts,
    Family,
    Hit,
    Hits,
    Need,
    ObjectRule,
    Severity,
    Verb,
)

_RECLAIM = "reclaimWithinCohort"
_OTHERS = (cohort_never_borrows.RULE, cohort_shares_nothing.RULE)
"""The rules that report a cohort in which no queue can borrow anything."""


def check(facts: Facts) -> Hits:
    """A queue reclaims only its own quota, or quota of a cohort below the root.

    While it borrows, it preempts only queues above their nominal quota.
    With fair sharing, a queue without quota can preempt too. Source: concepts/preemption.md;
    pkg/scheduler/preemption/classical, collectCandidatesForHierarchicalReclaim.
    """
    trees = facts.cluster.derive(forest)
    borrowers = _borrowers(trees)
    shares = settings(facts).fair_sharing or _has_weights(facts.cluster)
    without_borrowers: dict[str, list[CohortNode]] = {}
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
        only = f": {next(iter(trees.cohorts))}" if len(trees.cohorts) == 1 else ""
        field = f"{cohort_field(queue)}{only}"
        for path, message in _faults(node, preemption, others, field, shares=shares):
            alone = path == (_RECLAIM,) and node.parent is None
            at = queue.at.to("spec", "preemption", *path)
            meant = joined(facts.cluster, queue) if alone else ()
            if path == (_RECLAIM,) and not alone:
                meant = tuple(_likely_quotas(facts.cluster, node))
            yield Hit(RULE, f"{queue} has {message}", at, meant=meant)
            break
        else:
            if preemption.reclaim_within_cohort != "Never" and not shares and _owns(node):
                without_borrowers.setdefault(node.root().name, []).append(node)
    if without_borrowers:
        roots = {root for (root, cell), found in borrowers.items() if found and is_one(cell[1])}
        idle = [nodes for root, nodes in without_borrowers.items() if root not in roots]
        yield from _without_borrowers(facts, idle)


def _without_borrowers(facts: Facts, cohorts: Iterable[Sequence[CohortNode]]) -> Hits:
    """One hit for each cohort in which no queue can borrow what these queues have."""
    reported = set(places(facts, _OTHERS))
    for nodes in cohorts:
        queues = [it.queue for it in nodes if it.queue]
        every = [*nodes[0].root().queues()]
        if any(is_one(cell[1]) and not it.ceiling(cell) for it in every for cell in it.quotas):
            continue  # no-quota-anywhere reports it
        members = [it.queue.at for it in every if it.queue]
        if len(members) < 2 or any(it.to("spec", "cohortName") in reported for it in members):
            continue
        names = some([str(it) for it in queues], "other queue")
        yield Hit(
            RULE,
            f"{names} {'has' if len(queues) == 1 else 'have'} reclaimWithinCohort, but no other queue of the cohort can borrow {_first(nodes[0])}, so "
            "there is nothing to reclaim; raise lendingLimit and borrowingLimit, or write reclaimWithinCohort: Never",
            queues[0].at.to("spec", "preemption", "reclaimWithinCohort"),
            tuple(it.at.to("spec", "preemption", "reclaimWithinCohort") for it in queues[1:]),
        )


def _faults(
    node: CohortNode,
    preemption: Preemption,
    others: Sequence[CohortNode],
    field: str,
    *,
    shares: bool,
) -> Iterator[tuple[tuple[str, ...], str]]:
    """The paths of fields without effect, each with a message. `field`: the field of a cohort, and the only cohort."""
    reclaim, within = preemption.reclaim_within_cohort, "borrowWithinCohort"
    borrow = preemption.borrow_within_cohort or BorrowWithinCohort()
    borrows = borrow.policy != "Never"
    if reclaim != "Never" and node.parent is None and node.queue is not None:
        other = "remove reclaimWithinCohort"
        if preemption.within_cluster_queue == "Never":
            other = "withinClusterQueue: LowerPriority for preemption in the queue"
        message = (
            f"reclaimWithinCohort: {reclaim} but belongs to no cohort, so the setting has no effect; "
            f"write {field}, or {other}"
        )
        yield (_RECLAIM,), message
    elif reclaim != "Never" and not shares and not borrows and not _can_reclaim(node):
        message = (
            f"reclaimWithinCohort: {reclaim} but a nominalQuota of 0 {_first(node)}, so its jobs only borrow: they never "
            "preempt jobs of other queues, and wait until quota is free; write what this queue must get back as its "
            "nominalQuota, or write reclaimWithinCohort: Never"
        )
        yield (_RECLAIM,), message
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


def _likely_quotas(cluster: Cluster, node: CohortNode) -> Iterator[Edit]:
    """What was probably meant if a queue has quota of a flavor, but 0 for its GPUs: what another queue has of them."""
    for placed in quotas(node.queue) if node.queue else ():
        others = cluster.derive(nominal_quotas).get((placed.flavor, placed.resource), ())
        if placed.quota.nominal_quota or not is_one(placed.resource) or not others:
            continue
        if any(it.nominal_quota for cell, it in node.quotas.items() if cell[0] == placed.flavor):
            most = max(it.quota.nominal_quota for it in others)
            yield Edit(Verb.REWRITE, placed.at / "nominalQuota", written(placed.resource, most))


def _can_reclaim(node: CohortNode) -> bool:
    """Whether quota of the queue's GPUs belongs to it; without GPUs, of any of its resources."""
    cells = _cells(node)
    if all(node.ceiling(cell) == 0 for cell in cells):
        return True  # no-quota-anywhere reports it
    return any(map(node.owns, cells))


def _owns(node: CohortNode) -> bool:
    """Whether a queue has quota of GPUs."""
    return any(is_one(it[1]) and quota.nominal_quota > 0 for it, quota in node.quotas.items())


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
    reads=("ClusterQueue", "Cohort", "Configuration", "ResourceFlavor"),
)
