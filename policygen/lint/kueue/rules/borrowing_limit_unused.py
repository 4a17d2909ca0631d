"""A ClusterQueue may borrow up to its borrowingLimit, but its cohort has nothing to lend."""

from collections.abc import Collection, Iterator, Sequence

from policygen.core.finding import At
from policygen.core.quoting import some
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.admission_checks import quotas_are_automated
from policygen.lint.kueue.cohorts import Cell, CohortNode, cells, forest
from policygen.lint.kueue.coverage import READS, pod_requests, refused
from policygen.lint.kueue.missing_cluster_queues import missing_cluster_queues
from policygen.lint.kueue.quotas import PlacedQuota, quotas
from policygen.lint.kueue.rules import (
    cohort_never_borrows,
    cohort_of_one,
    cohort_shares_nothing,
    cohort_undeclared,
)
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

_OTHERS = (
    cohort_never_borrows.RULE,
    cohort_of_one.RULE,
    cohort_shares_nothing.RULE,
    cohort_undeclared.RULE,
)
"""The rules that report a cohort which is wrong, or shares no quota at all."""


def check(facts: Facts) -> Hits:
    """Reports a limit above 0 if no queue or cohort lends what it is for. Of a queue with GPUs, only limits of GPUs.

    Kueue may set the quotas itself if a MultiKueueConfig says so.
    Source: pkg/cache/scheduler/resource_node.go of Kueue 0.19.2, potentialAvailable.
    """
    cluster = facts.cluster
    trees = cluster.derive(forest)
    found = [
        (node, unused)
        for node in trees.queues.values()
        if node.parent is not None and not node.cyclic
        if (unused := list(_unused(node)))
    ]
    if not found or facts.derive(missing_cluster_queues) or quotas_are_automated(cluster):
        return
    reported = set(places(facts, _OTHERS))
    alike: dict[tuple[str, Cell], list[tuple[CohortNode, list[PlacedQuota]]]] = {}
    for node, unused in found:
        if not _is_reported(node, reported):
            key = node.root().name, (unused[0].flavor, unused[0].resource)
            alike.setdefault(key, []).append((node, unused))
    for (_, cell), queues in alike.items():
        if not _lacks_quota(facts, queues[0][0], cell[1]):
            yield _hit(queues, cell)


def _unused(node: CohortNode) -> Iterator[PlacedQuota]:
    """The quotas with a limit above 0 of which nothing can be borrowed."""
    if node.queue is None or not any(it.borrowing_limit for it in node.quotas.values()):
        return
    has_gpus = any(is_one(resource) for _, resource in node.quotas)
    reachable = {
        flavor.name
        for group in node.queue.fields.resource_groups
        if any(map(node.ceiling, cells((group,))))  # no-quota-anywhere reports the others
        for flavor in group.flavors
    }
    for placed in quotas(node.queue):
        quota, cell = placed.quota, (placed.flavor, placed.resource)
        if not quota.borrowing_limit or is_one(placed.resource) is not has_gpus:
            continue
        if placed.flavor in reachable and node.ceiling(cell) <= quota.nominal_quota:
            yield placed


def _is_reported(node: CohortNode, reported: Collection[At]) -> bool:
    members = node.root().queues() if reported else ()
    return any(it.queue and it.queue.at.to("spec", "cohortName") in reported for it in members)


def _lacks_quota(facts: Facts, node: CohortNode, resource: str) -> bool:
    """Whether request-not-covered reports that another queue of the cohort lacks quota of the resource."""
    if "request-not-covered" not in facts.run:
        return False
    members = {it.name for it in node.root().queues()}
    return any(
        it.queue.name in members and resource in refused(facts, it) for it in pod_requests(facts)
    )


def _hit(queues: Sequence[tuple[CohortNode, Sequence[PlacedQuota]]], cell: Cell) -> Hit:
    """One hit for all queues of a cohort with a limit for the same flavor and resource."""
    nodes, limits = [node for node, _ in queues], [it for _, unused in queues for it in unused]
    lenders = {it.at: it for node in nodes for it in _lenders(node, cell)}
    if lenders:
        why = f"{some([str(it.owner) for it in lenders.values()], 'other object')} {'lends' if len(lenders) == 1 else 'lend'} nothing"
        advice = "raise the lendingLimit there"
    elif any(_has_quota(it, cell) for it in nodes[0].root().tree() if it not in nodes):
        why = "a limit of a Cohort above excludes it"
        advice = "raise the limits of the Cohorts"
    else:
        why = "no other queue or Cohort has quota of it"
        advice = "give another queue or a Cohort a nominalQuota"
    resources = some([*dict.fromkeys(it.resource for it in limits)], "other resource")
    return Hit(
        RULE,
        f"{some([str(it.queue) for it in nodes], 'other queue')} {'has' if len(nodes) == 1 else 'have'} a borrowingLimit for "
        f"{resources} of flavor {cell[0]}, but can never borrow any, because {why}; {advice}, or remove borrowingLimit",
        limits[0].at / "borrowingLimit",
        (
            *(at / "lendingLimit" for at in lenders),
            *(it.at / "borrowingLimit" for it in limits[1:]),
        ),
        meant=tuple(Edit(Verb.REMOVE, at / "lendingLimit") for at in lenders),
    )


def _has_quota(node: CohortNode, cell: Cell) -> bool:
    quota = node.quotas.get(cell)
    return quota is not None and quota.nominal_quota > 0


def _lenders(node: CohortNode, cell: Cell) -> Iterator[PlacedQuota]:
    """The quotas of other objects that would be lent without their lendingLimit."""
    for other in node.root().tree():
        owner, quota = other.queue or other.entry, other.quotas.get(cell)
        if owner is None or other is node or quota is None:
            continue
        if other.parent and quota.lending_limit == 0 and other.subtree.get(cell):
            yield from (it for it in quotas(owner) if (it.flavor, it.resource) == cell)


RULE = ObjectRule(
    "borrowing-limit-unused",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Raise the lendingLimit or nominalQuota of other queues of the cohort, or remove borrowingLimit.",
    judges=("ClusterQueue",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=tuple(
        dict.fromkeys(("Cohort", "MultiKueueConfig", "Node", "ResourceFlavor", *READS, *KINDS))
    ),
)
