"""A workload requests more than its queue can ever have."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache, partial
from typing import NamedTuple

from policygen.core.amounts import amount_of, readable, total
from policygen.core.finding import At, Exceeded
from policygen.kubernetes.kueue import FlavorQuotas, ResourceGroup
from policygen.kubernetes.workloads import KINDS, replicas_at
from policygen.lint.core.excess_words import left_to
from policygen.lint.core.queue_sums import LASTING
from policygen.lint.core.refused_pods import request_path
from policygen.lint.kueue.cohorts import Cell, CohortNode, forest
from policygen.lint.kueue.coverage import READS, PodRequest, requests_by_workload
from policygen.lint.kueue.flavor_fits import refusal
from policygen.lint.kueue.job_quotas import fits, pods_together, requested_of
from policygen.lint.kueue.quotas import lacks_unit
from policygen.lint.kueue.strict_queues import blocking
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


class _Short(NamedTuple):
    """The resource of which no flavor has enough, and the flavor that has the most of it."""

    flavor: str
    resource: str
    requested: Fraction
    most: Fraction


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
                    if not (without_unit and _lacks_unit(group, short.resource)):
                        yield _hit(facts, part, group, short)
                    break
            else:
                continue
            break


def _lacks_unit(group: ResourceGroup, resource: str) -> bool:
    """Whether a quota of a resource has no unit."""
    quotas = (quota for flavor in group.flavors for quota in flavor.resources)
    return any(quota.name == resource and lacks_unit(quota) for quota in quotas)


def _hit(facts: Facts, requests: Sequence[PodRequest], group: ResourceGroup, short: _Short) -> Hit:
    """At the request of a pod that is too large alone, or else at the number of the most demanding pods."""
    first, (flavor, name, amount, most) = requests[0], short
    of_one = max(requests, key=lambda it: it.counted.get(name, 0))
    of_all = max(requests, key=lambda it: it.counted.get(name, 0) * pods_together(it))
    if of_one.counted[name] > most:
        at = of_one.template.at.to("spec", *request_path(of_one.template.spec, name))
        advice = "lower the request"
    else:
        at = replicas_at(of_all.workload, of_all.template)
        left = _left_to_others(
            facts, first, (flavor, name), most - of_one.counted[name], group.flavors
        )
        advice = f"run fewer pods{left}"
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


def _left_to_others(
    facts: Facts, own: PodRequest, cell: Cell, most: Fraction, flavors: Sequence[FlavorQuotas]
) -> str:
    """What fewer pods must leave in a flavor to the workloads that fit no other one, up to an amount; else ""."""
    flavor, name = cell
    lasting: dict[str, Fraction] = {}
    jobs: dict[str, Fraction] = {}
    for requests in facts.derive(_by_queue)[own.queue.at]:
        other = requests[0].workload
        is_lasting = other.kind in LASTING
        amounts = [
            it.counted.get(name, Fraction(0))
            * ((it.template.replicas or 0) if is_lasting else pods_together(it))
            for it in requests
            if _usable(facts, it, flavors) == [flavor]
        ]
        amount = sum(amounts, Fraction(0))
        if amount and other.at != own.workload.at:
            (lasting if is_lasting else jobs)[str(other)] = amount
    return left_to(lasting, jobs if own.workload.kind in LASTING else {}, name, most)


def _usable(facts: Facts, request: PodRequest, flavors: Iterable[FlavorQuotas]) -> list[str]:
    """The flavors that do not refuse a pod; an unknown one counts."""
    known = facts.cluster.flavors
    found = ((it.name, known.get(it.name)) for it in flavors)
    return [name for name, it in found if not (it and refusal(it.fields, request.template.spec))]


def _by_queue(facts: Facts) -> Mapping[At, Sequence[Sequence[PodRequest]]]:
    """The requests of each workload, by the place of its ClusterQueue; use it with `facts.derive`."""
    found: dict[At, list[Sequence[PodRequest]]] = {}
    for requests in requests_by_workload(facts):
        found.setdefault(requests[0].queue.at, []).append(requests)
    return found


def _short(
    group: ResourceGroup, requested: Mapping[str, Fraction], ceiling: Callable[[Cell], Fraction]
) -> _Short | None:
    worst: _Short | None = None
    for flavor in group.flavors:
        most = {name: ceiling((flavor.name, name)) for name in requested}
        lacking = [name for name in sorted(requested) if requested[name] > most[name]]
        if not lacking:
            return None
        name = max(lacking, key=lambda name: "/" in name)
        if worst is None or most[name] > worst.most:
            worst = _Short(flavor.name, name, requested[name], most[name])
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
    reads=(*READS, "Cohort", "ResourceFlavor"),
)
