"""Each workload has room in a ResourceQuota of the namespace, but not all of them together."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from policygen.core.amounts import amount_of, readable
from policygen.core.finding import At, Exceeded
from policygen.core.quoting import listed, some
from policygen.kubernetes.pod_quotas import PODS, resource_of
from policygen.kubernetes.workloads import KINDS, Workload
from policygen.lint.core.namespace_quotas import Bound, bounds, used_until_deleted
from policygen.lint.core.queue_rooms import RESTARTED
from policygen.lint.kueue.admitted import admitted
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_Sum = tuple[str, Bound, Mapping[Workload, Fraction]]
"""A key of `hard`, its limit, and what each workload uses of it."""


def check(facts: Facts) -> Hits:
    """Checks workloads whose pods do not end. The API server refuses the pods that are created last.

    Skips quotas with scopes. workload-exceeds-resource-quota reports a workload that alone uses too much, and
    resource-quota-below-queue a limit below that of the queues, if raising it to theirs is enough.
    Source: as in lint/core/namespace_quotas.py.
    """
    reported = facts.derive(of_queues) if "resource-quota-below-queue" in facts.run else ()
    sums: dict[At, list[_Sum]] = {}
    for it in facts.derive(_sums):
        key, bound, _ = it
        if bound.quota.at.to("spec", "hard", key) not in reported:
            sums.setdefault(bound.quota.at, []).append(it)
    for found in sums.values():
        yield _hit(sorted(found, key=lambda it: ("/" not in it[0], it[0])))


def of_queues(facts: Facts) -> frozenset[At]:
    """The exceeded limits that are large enough if they are those of the ClusterQueues; use it with `facts.derive`."""
    found = set()
    for key, bound, used in facts.derive(_sums):
        at, needed = bound.quota.at.to("spec", "hard", key), sum(used.values())
        queues = facts.cluster.derive(admitted).get(at)
        have = sum(queues.beside.values(), queues.amount) if queues else 0
        if queues and queues.exceed(bound.limit) and needed <= have:
            found.add(at)
    return frozenset(found)


def _sums(facts: Facts) -> tuple[_Sum, ...]:
    """The limits that workloads only exceed together."""
    by_namespace, found = facts.cluster.derive(bounds), []
    for (namespace, key), used in facts.derive(used_until_deleted).items():
        bound = by_namespace[namespace][key]
        inside = {it: amount for it, amount in used.items() if amount <= bound.limit}
        if len(inside) > 1 and sum(inside.values()) > bound.limit:
            found.append((key, bound, inside))
    return tuple(found)


def _hit(found: Sequence[_Sum]) -> Hit:
    """One hit for one ResourceQuota."""
    members = list(dict.fromkeys(it for *_, used in found for it in used))
    requested, allowed = {}, {}
    for key, bound, used in found:
        end = f" for {key}" if key.startswith("limits.") else ""
        total, name = sum(used.values(), Fraction(0)), "pods" if key in PODS else resource_of(key)
        requested[name, end] = f"{amount_of(name, total, bound.limit)}{end}"
        allowed[name, end] = readable(name, bound.limit, total)
    parts = [f"{it} ({_needs(it, found)})" for it in members]
    last, quota = members[-1], found[0][1].quota
    return Hit(
        RULE,
        f"{some([*parts[:2], parts[-1], *parts[2:-1]] if parts[2:] else parts, 'other workload')} together need "
        f"{listed([*requested.values()], 'and')}, but {quota} allows {listed([*allowed.values()], 'and')}, so the "
        "API server refuses the last pods; run fewer pods, request less, or raise the quota",
        last.at.to("spec", *(("replicas",) if last.kind in RESTARTED else ())),
        (
            *(bound.quota.at.to("spec", "hard", key) for key, bound, _ in found),
            *(it.at for it in members[:-1]),
        ),
        exceeds=tuple(_exceeded(last, *it) for it in found),
    )


def _exceeded(
    last: Workload, key: str, bound: Bound, used: Mapping[Workload, Fraction]
) -> Exceeded:
    name, total = resource_of(key), sum(used.values(), Fraction(0))
    limit = f"{bound.quota} allows {amount_of(name, bound.limit, total)}"
    return Exceeded(last.at, name, bound.limit, limit)


def _needs(workload: Workload, found: Sequence[_Sum]) -> str:
    """What a workload uses of the first of the limits that it uses."""
    key, bound, used = next(it for it in found if workload in it[2])
    name = "pods" if key in PODS else resource_of(key)
    return amount_of(name, used[workload], bound.limit)


RULE = ObjectRule(
    "workloads-exceed-resource-quota",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Run fewer pods, request less, or raise the quota.",
    judges=KINDS,
    check=check,
    reads=(
        "LimitRange",
        "LocalQueue",
        "ClusterQueue",
        "ResourceQuota",
        "HorizontalPodAutoscaler",
        "ScaledObject",
    ),
)
