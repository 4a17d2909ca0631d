"""A workload requests more than its queue can ever have."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache, partial

from policygen.core.amounts import amount_of, readable, total
from policygen.core.finding import At, Exceeded
from policygen.kubernetes.kueue import ResourceGroup
from policygen.kubernetes.workloads import KINDS, replicas_at
from policygen.lint.core.excess_words import left_to
from policygen.lint.core.queue_sums import LASTING
from policygen.lint.core.refused_pods import request_path
from policygen.lint.kueue.cohorts import Cell, CohortNode, forest
from policygen.lint.kueue.coverage import READS, PodRequest, requests_by_workload
from policygen.lint.kueue.job_quotas import fits, pods_together, requested_of
from policygen.lint.kueue.quotas import lacks_unit
from policygen.lint.kueue.strict_queues import blocking
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """It waits forever, and at the head of a StrictFIFO queue it blocks all others.

    Requests are a lower bound: an unknown number of pods is counted as one.
    Source: pkg/cache/scheduler/resource_node.go, potentialAvailable; issue 15614.
    """
    trees = facts.cluster.derive(forest)
    ceiling = cache(CohortNode.ceiling)
    without_unit = "memory-quota-without-unit" in facts.run  # it reports such quotas
    for requests in requests_by_workload(facts):
        first = requests[0]
        node = trees.queues[first.queue.name]
        for group in () if node.cyclic else first.queue.fields.resource_groups:
            parts = [[it] for it in requests] if len(group.flavors) > 1 else [requests]
            for part in parts:
                reach = partial(ceiling, node)
                if len(part) == 1 and any(
                    fits(part[0], group, it.name, reach) for it in group.flavors
                ):
                    continue
                amounts = requested_of(part[0], group)
                if len(part) > 1:
                    amounts = total((amounts, *(requested_of(it, group) for it in part[1:])))
                if short := _short(group, amounts, reach):
                    if not (without_unit and _lacks_unit(group, short[0])):
                        yield _hit(facts, part, *short)
                    break
            else:
                continue
            break


def _lacks_unit(group: ResourceGroup, resource: str) -> bool:
    """Whether a quota of a resource has no unit."""
    quotas = (quota for flavor in group.flavors for quota in flavor.resources)
    return any(quota.name == resource and lacks_unit(quota) for quota in quotas)


def _hit(
    facts: Facts, requests: Sequence[PodRequest], name: str, amount: Fraction, most: Fraction
) -> Hit:
    """At the request of a pod that is too large alone, or else at the number of the most demanding pods."""
    first = requests[0]
    of_one = max(requests, key=lambda it: it.counted.get(name, 0))
    of_all = max(requests, key=lambda it: it.counted.get(name, 0) * pods_together(it))
    if of_one.counted[name] > most:
        at = of_one.template.at.to("spec", *request_path(of_one.template.spec, name))
        advice = "lower the request"
    else:
        at = replicas_at(of_all.workload, of_all.template)
        advice = f"run fewer pods{_left_to_others(facts, first, name, most - of_one.counted[name])}"
    limit = f"{first.queue} can have at most"
    all_of = f"{limit} {amount_of(name, most, amount)}"
    pods = sum(pods_together(it) for it in requests if name in it.counted)
    return Hit(
        RULE,
        f"{first.workload} requests {amount_of(name, amount, most)}, but {limit} "
        f"{readable(name, most, amount)}{blocking(first.queue)}; {advice}, or raise the quota",
        at,
        related=(first.queue.at.to("spec", "resourceGroups"),),
        exceeds=(Exceeded(first.workload.at, name, most, all_of, pods=pods),),
    )


def _left_to_others(facts: Facts, own: PodRequest, name: str, most: Fraction) -> str:
    """What fewer pods must leave to the other workloads of the queue, up to an amount; else ""."""
    lasting: dict[str, Fraction] = {}
    jobs: dict[str, Fraction] = {}
    for requests in facts.derive(_by_queue)[own.queue.at]:
        other = requests[0].workload
        is_lasting = other.kind in LASTING
        amounts = [
            it.counted.get(name, Fraction(0))
            * ((it.template.replicas or 0) if is_lasting else pods_together(it))
            for it in requests
        ]
        amount = sum(amounts, Fraction(0))
        if amount and other.at != own.workload.at:
            (lasting if is_lasting else jobs)[str(other)] = amount
    return left_to(lasting, jobs if own.workload.kind in LASTING else {}, name, most)


def _by_queue(facts: Facts) -> Mapping[At, Sequence[Sequence[PodRequest]]]:
    """The requests of each workload, by the place of its ClusterQueue; use it with `facts.derive`."""
    found: dict[At, list[Sequence[PodRequest]]] = {}
    for requests in requests_by_workload(facts):
        found.setdefault(requests[0].queue.at, []).append(requests)
    return found


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
    remedy="Lower the request or the number of pods, or raise the quota or borrowingLimit of the queue.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.QUEUES}),
    reads=(*READS, "Cohort"),
)
