"""The workloads of a queue use up another quota before its GPUs, so GPUs stay unused."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from policygen.core.amounts import BYTES, amount_of, readable, written
from policygen.core.finding import At
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.kueue import FlavorQuotas, FlavorResourceQuota
from policygen.lint.core.known_nodes import node_index
from policygen.lint.core.pod_demands import demands_by_template
from policygen.lint.core.rules import gpus_left_unusable, pod_fits_no_node
from policygen.lint.kueue.cohorts import CohortNode, forest
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


def check(facts: Facts) -> Hits:
    """Of the workloads in the input, the one that requests least of the quota for each GPU counts.

    Limits include what the queue can borrow. Pods that fit no node, or that leave GPUs of a node unused,
    need smaller requests and not a larger quota; other rules report them. Source:
    pkg/scheduler/flavorassigner/flavorassigner.go of Kueue 0.19.2: a pod gets all resources of a group in
    one flavor.
    """
    trees, owned = facts.cluster.derive(forest), facts.cluster.derive(nodes)
    by_queue: dict[str, list[PodRequest]] = {}
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
                if fault := _fault(node, quotas, users, have):
                    number, message, least, right = fault
                    at = own.to("resources", number, "nominalQuota")
                    related, meant = (least.template.at / "spec",), meant_amount(at, right)
                    yield Hit(RULE, f"{queue} {message}", at, related, meant=meant)


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
) -> tuple[int, str, PodRequest, str] | None:
    """The index of a quota that runs out before the GPUs, a message, the workload that needs least, and the amount in another unit.

    `have`: what the nodes of the flavor have.
    """
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
            raised = (
                f"{meant}, if the unit is wrong" if unit else f"at least {written(name, needed)}"
            )
            message = (
                f"can have {amount_of(gpu, offered)} of flavor {flavor}, but its workloads can use only "
                f"{readable(gpu, Fraction(usable), offered)} of them, because the quota of {amount_of(name, most)} runs out first "
                f"({least.workload} requests {readable(name, each)} for each GPU); raise the quota of {name} to "
                f"{raised}, or {'use fewer pods' if name == 'pods' else f'request less {name}'} for each GPU"
            )
            return k, message, least, meant
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
    reads=tuple(dict.fromkeys(("Cohort", "Node", *gpus_left_unusable.RULE.reads))),
)
