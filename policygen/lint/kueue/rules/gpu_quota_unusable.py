"""The workloads of a queue use up another quota before its GPUs, so GPUs stay unused."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from policygen.core.amounts import amount_of, readable, written
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.kueue import FlavorQuotas
from policygen.lint.kueue.cohorts import CohortNode, forest
from policygen.lint.kueue.coverage import PodRequest, pod_requests
from policygen.lint.kueue.flavor_fits import refusal
from policygen.lint.kueue.quotas import groups_at
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

_PODS = "pods"
"""A resource of which Kueue counts one for each pod. Source: pkg/workload/resources.go."""


def check(facts: Facts) -> Hits:
    """Of the workloads in the input, the one that requests least of the quota for each GPU counts.

    Limits include what the queue can borrow. Source: pkg/scheduler/flavorassigner/flavorassigner.go
    of Kueue 0.19.2: a pod gets all resources of a group in one flavor.
    """
    trees = facts.cluster.derive(forest)
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
                if fault := _fault(node, quotas, users):
                    at = groups_at(queue, i, "flavors", j, "resources", fault[0], "nominalQuota")
                    yield Hit(RULE, f"{queue} {fault[1]}", at, (fault[2].template.at / "spec",))


def _fault(
    node: CohortNode, quotas: FlavorQuotas, users: Sequence[PodRequest]
) -> tuple[int, str, PodRequest] | None:
    """The index of a quota that runs out before the GPUs, a message, and the workload that needs least."""
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
        shares = [_amount(it.counted, name) / it.counted[gpu] for it in users]
        each = min(shares)
        least = users[shares.index(each)]
        if not each or most >= each * offered:
            continue
        usable = most // each
        if usable > 0 and offered - usable >= min(it.counted[gpu] for it in users):
            message = (
                f"can have {amount_of(gpu, offered)} of flavor {flavor}, but its workloads can use only "
                f"{readable(gpu, Fraction(usable), offered)} of them, because the quota of {amount_of(name, most)} runs out first "
                f"({least.workload} requests {readable(name, each)} for each GPU); raise the quota of {name} to at least "
                f"{written(name, each * offered)}, or {'use fewer pods' if name == 'pods' else f'request less {name}'} for each GPU"
            )
            return k, message, least
    return None


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
    reads=("LocalQueue", "Cohort", "ResourceFlavor", "Configuration", "LimitRange", "RuntimeClass"),
)
