"""What Kueue admits of a workload together, and the flavors whose quota is enough for it."""

from collections.abc import Callable, Mapping
from fractions import Fraction

from policygen.core.amounts import exceeds
from policygen.core.go_values import integer
from policygen.kubernetes.kueue import ResourceGroup
from policygen.kubernetes.kueue_jobs import MIN_PARALLELISM, TOGETHER
from policygen.lint.kueue.cohorts import Cell, forest
from policygen.lint.kueue.coverage import PodRequest
from policygen.lint.rule import Facts, Need


def pods_together(request: PodRequest) -> int:
    """The pods of a template that Kueue admits together, at least; an unknown number is one."""
    known = request.template.replicas if request.workload.kind in TOGETHER else 1
    times = 1 if known is None else known
    if request.workload.kind == "LeaderWorkerSet":  # it has one Workload for each group
        groups = request.workload.spec.get("replicas")
        times //= groups if isinstance(groups, int) and groups > 0 else 1
    least = integer(request.workload.annotations.get(MIN_PARALLELISM, ""))
    if least is not None and least >= 0 and request.workload.kind == "Job":
        times = min(times, least)
    return times


def requested_of(request: PodRequest, group: ResourceGroup) -> Mapping[str, Fraction]:
    """The amounts that these pods request together of the resources of a group."""
    pods = pods_together(request)
    return {
        name: amount if pods == 1 else amount * pods
        for name, amount in request.counted.items()
        if name in group.covered_resources
    }


def has_enough(facts: Facts, request: PodRequest, group: ResourceGroup, flavor: str) -> bool:
    """Whether the quota of a flavor can be enough for these pods, with all that the queue can borrow.

    Source: pkg/cache/scheduler/resource_node.go, potentialAvailable, of Kueue 0.19.2.
    """
    node = facts.cluster.derive(forest).queues[request.queue.name]
    if Need.QUEUES not in facts.given or node.cyclic:
        return True
    return fits(request, group, flavor, node.ceiling)


def fits(
    request: PodRequest, group: ResourceGroup, flavor: str, ceiling: Callable[[Cell], Fraction]
) -> bool:
    """Whether these pods together request no more of each resource of a group than the ceiling of a flavor."""
    pods, names = pods_together(request), group.covered_resources
    return not any(
        name in names and exceeds(amount, ceiling((flavor, name)), pods)
        for name, amount in request.counted.items()
    )
