"""A workload requests more than its queue can ever have."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache, partial

from policygen.core.amounts import amount_of, readable, total
from policygen.core.finding import Exceeded
from policygen.kubernetes.kueue import ResourceGroup
from policygen.kubernetes.kueue_jobs import MIN_PARALLELISM, TOGETHER
from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.cohorts import Cell, CohortNode, forest
from policygen.lint.kueue.coverage import PodRequest, requests_by_workload
from policygen.lint.kueue.strict_queues import blocking
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """It waits forever, and at the head of a StrictFIFO queue it blocks all others.

    Requests are a lower bound: an unknown number of pods is counted as one.
    Source: pkg/cache/scheduler/resource_node.go, potentialAvailable; issue 15614.
    """
    trees = facts.cluster.derive(forest)
    ceiling = cache(CohortNode.ceiling)
    for requests in requests_by_workload(facts):
        first = requests[0]
        node = trees.queues[first.queue.name]
        for group in () if node.cyclic else first.queue.fields.resource_groups:
            requested = [_requests(each, group) for each in requests]
            if len(group.flavors) == 1 and len(requested) > 1:
                requested = [total(requested)]
            shorts = (_short(group, amounts, partial(ceiling, node)) for amounts in requested)
            if short := next(filter(None, shorts), None):
                name, amount, most = short
                limit = f"{first.queue} can have at most"
                all_of = f"{limit} {amount_of(name, most, amount)}"
                yield Hit(
                    RULE,
                    f"{first.workload} requests {amount_of(name, amount, most)}, but "
                    f"{limit} {readable(name, most, amount)}{blocking(first.queue)}; lower the "
                    "requests, or raise the quota or borrowingLimit",
                    first.template.at / "spec",
                    related=(first.queue.at.to("spec", "resourceGroups"),),
                    exceeds=(Exceeded(first.workload.at, name, most, all_of),),
                )
                break


def _requests(request: PodRequest, group: ResourceGroup) -> dict[str, Fraction]:
    known = request.template.replicas if request.workload.kind in TOGETHER else 1
    times = 1 if known is None else known
    if request.workload.kind == "LeaderWorkerSet":  # it has one Workload for each group
        groups = request.workload.spec.get("replicas")
        times //= groups if isinstance(groups, int) and groups > 0 else 1
    least = request.workload.annotations.get(MIN_PARALLELISM, "")
    if least.isdecimal() and request.workload.kind == "Job":
        times = min(times, int(least))
    return {
        name: amount if times == 1 else amount * times
        for name, amount in request.counted.items()
        if name in group.covered_resources
    }


def _short(
    group: ResourceGroup, requested: Mapping[str, Fraction], ceiling: Callable[[Cell], Fraction]
) -> tuple[str, Fraction, Fraction] | None:
    """The resource of which no flavor has enough, its request, and the most of any flavor."""
    worst: tuple[str, Fraction, Fraction] | None = None
    for flavor in group.flavors:
        most = {name: ceiling((flavor.name, name)) for name in requested}
        lacking = [name for name in sorted(requested) if requested[name] > most[name]]
        if not lacking:
            return None
        name = max(lacking, key=lambda name: "/" in name)
        if worst is None or most[name] > worst[2]:
            worst = name, requested[name], most[name]
    if all(ceiling((flavor.name, name)) == 0 for flavor in group.flavors for name in requested):
        return None  # no-quota-anywhere reports it
    return worst


RULE = ObjectRule(
    "workload-exceeds-quota",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Lower the requests of the workload, or raise the quota or borrowingLimit of the queue.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.QUEUES}),
    reads=("LocalQueue", "ClusterQueue", "Cohort", "Configuration", "LimitRange", "RuntimeClass"),
)
