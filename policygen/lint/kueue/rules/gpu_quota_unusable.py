"""The workloads of a queue use up another quota before its GPUs, so GPUs stay unused."""

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from policygen.core.amounts import BYTES, amount_of, readable, written
from policygen.core.finding import At
from policygen.core.quoting import some
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.kueue import ClusterQueueView, FlavorQuotas, FlavorResourceQuota
from policygen.kubernetes.table import Entry
from policygen.lint.core.known_nodes import node_index
from policygen.lint.core.pod_demands import demands_by_template
from policygen.lint.core.queue_sums import queue_sums
from policygen.lint.core.rules import gpus_left_unusable, pod_fits_no_node, workloads_exceed_queue
from policygen.lint.kueue.cohorts import Cell, CohortNode, forest
from policygen.lint.kueue.coverage import PodRequest, pod_requests
from policygen.lint.kueue.flavor_fits import refusal
from policygen.lint.kueue.flavor_nodes import nodes
from policygen.lint.kueue.quotas import groups_at, lacks_unit
from policygen.lint.kueue.rules import gpu_quota_without_cpu
from policygen.lint.other_rules import is_inside, places
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.rule import written as meant_amount

_PODS = "pods"
"""A resource of which Kueue counts one for each pod. Source: pkg/workload/resources.go."""
_STEP = 1024
"""The factor between two units of bytes."""


class _ScarceQuota(NamedTuple):
    """A quota that runs out before the GPUs of its flavor."""

    number: int
    """Its index in the flavor."""
    flavor: str
    gpu: str
    offered: Fraction
    """The GPUs that the queue can have."""
    resource: str
    own: Fraction
    most: Fraction
    """What the queue can have of the resource."""
    each: Fraction
    """What the workload that needs least requests for each GPU."""
    least: PodRequest
    meant: str
    """The amount in another unit, if it was certainly meant."""


_Placed = tuple[Entry[ClusterQueueView], At, _ScarceQuota]
"""The queue and the place of a quota."""


def check(facts: Facts) -> Hits:
    """Of the workloads in the input, the one that requests least of the quota for each GPU counts.

    Limits include what the queue can borrow. Pods that fit no node, or that leave GPUs of a node unused,
    need smaller requests and not a larger quota; other rules report them. Queues that can borrow the same quotas
    are reported together.
    Source: pkg/scheduler/flavorassigner/flavorassigner.go of Kueue 0.19.2: a pod gets all resources of a group in
    one flavor.
    """
    trees, owned = facts.cluster.derive(forest), facts.cluster.derive(nodes)
    by_queue: dict[str, list[PodRequest]] = {}
    shared: dict[Hashable, list[_Placed]] = {}
    for request in pod_requests(facts):
        by_queue.setdefault(request.queue.name, []).append(request)
    for name, requests in by_queue.items():
        queue, node = requests[0].queue, trees.queues[name]
        for i, group in enumerate(() if node.cyclic else queue.fields.resource_groups):
            for j, quotas in enumerate(group.flavors):
                flavor = facts.cluster.flavors.get(quotas.name)
                users = [
                    it
                    for it in requests
                    if flavor is None or not refusal(flavor.fields, it.template.spec)
                ]
                have = owned[quotas.name].total if flavor is not None else {}
                if _fault(node, quotas, users, have) is None:
                    continue
                reported = facts.derive(_reported)
                users = [
                    it
                    for it in users
                    if it.template.at not in reported and _fits(facts, it, quotas.name)
                ]
                own = groups_at(queue, i, "flavors", j)
                if any(is_inside(it, own) for it in facts.derive(_without_cpu)):
                    continue
                if it := _fault(node, quotas, users, have):
                    at = own.to("resources", it.number, "nominalQuota")
                    owner = _sharing_cohort(node, (quotas.name, it.resource))
                    shares = id(owner), quotas.name, it.gpu, it.resource, it.offered, it.most
                    shared.setdefault(shares, []).append((queue, at, it))
    exceeded = facts.derive(_exceeded) if shared else ()
    for found in shared.values():
        first = found[0][2]
        owner = _sharing_cohort(trees.queues[found[0][0].name], (first.flavor, first.resource))
        queues = {str(it.queue) for it in owner.queues()}
        if any((name, first.resource) in exceeded for name in queues):
            continue  # workloads-exceed-queue reports the quota that runs out
        wrong = [[placed] for placed in found if placed[2].meant]
        yield from map(_hit, wrong or [found])


def _sharing_cohort(node: CohortNode, cell: Cell) -> CohortNode:
    """The highest cohort that a queue shares a quota with, without a limit of borrowing or lending between them."""
    while node.parent is not None:
        quota = node.quotas.get(cell)
        if quota and (quota.borrowing_limit is not None or quota.lending_limit is not None):
            break
        node = node.parent
    return node


def _hit(found: Sequence[_Placed]) -> Hit:
    """One hit for queues that share a quota, at the one that needs most."""
    queue, at, it = max(found, key=lambda placed: placed[2].each)
    least = min((other for _, _, other in found), key=lambda other: other.each)
    others = [(str(other), place) for other, place, _ in found if place != at]
    who = some([str(queue), *(name for name, _ in others)], "other queue")
    can, their, where = ("can each", "their", f" in {queue}") if others else ("can", "its", "")
    lacking = f"at least {written(it.resource, it.own + it.each * it.offered - it.most)}"
    raised = f"{it.meant}, if the unit is wrong" if it.meant else lacking
    less = "use fewer pods" if it.resource == _PODS else f"request less {it.resource}"
    return Hit(
        RULE,
        f"{who} {can} have {amount_of(it.gpu, it.offered)} of flavor {it.flavor}, but {their} workloads can use only "
        f"{readable(it.gpu, Fraction(it.most // least.each), it.offered)} of them, because the quota of {amount_of(it.resource, it.most)} "
        f"runs out first ({least.least.workload} requests {readable(it.resource, least.each)} for each GPU); raise the quota of "
        f"{it.resource} to {raised}{where}, or {less} for each GPU",
        at,
        (it.least.template.at / "spec", *(place for _, place in others)),
        meant=meant_amount(at, it.meant),
    )


def _fits(facts: Facts, request: PodRequest, flavor: str) -> bool:
    """Whether a node of a flavor takes the pods; True if it is unknown."""
    index = facts.derive(node_index) if Need.KNOWN_NODES in facts.given else None
    if index is None or not index.all:
        return True
    it = facts.derive(demands_by_template).get(id(request.template))
    if it is None:
        return True
    ways = [way for way in (*it.ways, *it.scarce) if any(x.name == flavor for x in way.flavors)]
    return not ways or any(index.takers(way.demand) for way in ways)


def _without_cpu(facts: Facts) -> frozenset[At]:
    """The quotas of which gpu-quota-without-cpu reports that there is too little for the GPUs; use it with `facts.derive`."""
    return frozenset(places(facts, (gpu_quota_without_cpu.RULE,)))


def _exceeded(facts: Facts) -> frozenset[tuple[str, str]]:
    """The queues whose workloads need more of a resource together than the queue can have; use it with `facts.derive`."""
    if workloads_exceed_queue.RULE.name not in facts.run:
        return frozenset()
    return frozenset(
        (it.queue, one.resource)
        for it in facts.derive(queue_sums)
        for one in (() if it.jobs else it.sums)
    )


def _reported(facts: Facts) -> frozenset[At]:
    """The templates whose requests fit no node, or leave its GPUs unused; use it with `facts.derive`."""
    rules = (gpus_left_unusable.RULE, pod_fits_no_node.RULE)
    found = [*places(facts, rules)] if Need.KNOWN_NODES in facts.given else []
    templates = {it.template.at for it in pod_requests(facts)}
    return frozenset(it for it in templates if any(is_inside(at, it) for at in found))


def _fault(
    node: CohortNode,
    quotas: FlavorQuotas,
    users: Sequence[PodRequest],
    have: Mapping[str, Fraction],
) -> _ScarceQuota | None:
    """The first quota that runs out before the GPUs. `have`: what the nodes of the flavor have."""
    flavor = quotas.name
    gpus = [
        it.name for it in quotas.resources if is_one(it.name) and node.ceiling((flavor, it.name))
    ]
    users = [it for it in users if gpus and _is_whole(it.counted.get(gpus[0]))]
    if len(gpus) != 1 or not users:
        return None
    [gpu] = gpus
    offered = node.ceiling((flavor, gpu))
    for k, quota in enumerate(quotas.resources):
        if quota.name == gpu:
            continue
        name, most = quota.name, node.ceiling((flavor, quota.name))
        if any(_amount(it.counted, name) * offered <= most * it.counted[gpu] for it in users):
            continue  # the quota is enough for this workload and all GPUs
        if lacks_unit(quota) or _is_not_lent(node, flavor, gpu, quota.name):
            continue  # memory-quota-without-unit or request-not-covered reports it
        shares = [_amount(it.counted, name) / it.counted[gpu] for it in users]
        each = min(shares)
        least = users[shares.index(each)]
        if not each or most >= have.get(name, most + 1):
            continue  # the nodes have no more
        usable = most // each
        if usable > 0 and offered - usable >= min(it.counted[gpu] for it in users):
            own, needed = quota.nominal_quota, each * offered
            unit = name in BYTES and most - own + own * _STEP >= needed and each > own
            meant = written(name, own * _STEP) if unit else ""
            return _ScarceQuota(k, flavor, gpu, offered, name, own, most, each, least, meant)
    return None


def _is_not_lent(node: CohortNode, flavor: str, gpu: str, resource: str) -> bool:
    """Whether another queue of the cohort has GPUs of a flavor without a usable quota of a resource."""
    others = (it.quotas for it in node.root().queues() if it is not node)
    return any((flavor, gpu) in it and _is_too_small(it.get((flavor, resource))) for it in others)


def _is_too_small(quota: FlavorResourceQuota | None) -> bool:
    """Whether a quota is missing, or has less cpu or memory than any job needs."""
    return quota is None or lacks_unit(quota) or quota.nominal_quota < 1


def _is_whole(gpus: Fraction | None) -> bool:
    """False also for a fraction, which the API server refuses."""
    return gpus is not None and gpus > 0 and gpus.denominator == 1


def _amount(counted: Mapping[str, Fraction], resource: str) -> Fraction:
    return Fraction(1) if resource == _PODS else counted.get(resource, Fraction(0))


RULE = ObjectRule(
    "gpu-quota-unusable",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Raise the quota that runs out first, or request less of it for each GPU.",
    judges=("ClusterQueue",),
    check=check,
    needs=frozenset({Need.WHOLE, Need.WORKLOADS}),
    reads=tuple(
        dict.fromkeys(
            ("Cohort", "Node", *gpus_left_unusable.RULE.reads, *workloads_exceed_queue.RULE.reads)
        )
    ),
)
