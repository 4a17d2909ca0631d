"""A Deployment fits its quota or queue, but its update needs one more pod than this allows."""

from collections.abc import Sequence
from fractions import Fraction

from msgspec import Struct

from policygen.core.amounts import amount_of, exceeds, readable, summed
from policygen.core.finding import At
from policygen.core.quoting import counted, some
from policygen.kubernetes.pod_quotas import PODS, charge, resource_of
from policygen.kubernetes.workloads import Workload
from policygen.lint.core.namespace_quotas import Bound, bounds, used_until_deleted
from policygen.lint.core.queue_rooms import READS
from policygen.lint.core.queue_sums import READS_OF_JOBS, FullQueue, full_queues, queue_sums
from policygen.lint.core.rollouts import an_update_waits, rollout
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


class _Full(Struct, frozen=True, eq=False):
    """A limit that has no room for a new pod of some Deployments."""

    bound: Bound
    key: str
    used: Fraction
    members: Sequence[Workload]
    """All workloads that use it until they are deleted."""
    updated: Sequence[Workload]
    """The Deployments."""


def check(facts: Facts) -> Hits:
    """If no pod may be unavailable, a new one must fit before an old one is deleted.

    Source: pkg/controller/deployment/rolling.go; pkg/quota/v1/evaluator/core/pods.go;
    for queues lint/core/queue_rooms.py.
    """
    full = facts.derive(_stuck)
    yield from map(_of_quota, full)
    refused = {each.at for it in full for each in it.updated}
    for it in facts.derive(_queued):
        room, beside = it.room, ""
        if room.workload.at in refused:
            continue
        if it.others:
            used = sum((each.amounts[room.resource] for each in it.others), Fraction(0))
            who = some([str(each.workload) for each in it.others], "other workload")
            needs = "requests" if len(it.others) == 1 else "together request"
            beside = f", and {who} {needs} {readable(room.resource, used, room.most)}"
        yield Hit(
            RULE,
            f"{room.workload} has {counted(it.pods, 'pod')}, and its queue has no room for one more: "
            f"{room.why}{beside}; {an_update_waits((), 'waits')}",
            room.workload.at.to("spec", "strategy"),
            (room.at, *(each.workload.at for each in it.others)),
        )


def updates_reported(facts: Facts) -> set[At]:
    """The Deployments that the rule reports, if it runs."""
    if RULE.name not in facts.run:
        return set()
    queued = {it.room.workload.at for it in facts.derive(_queued)}
    return queued.union(each.at for it in facts.derive(_stuck) for each in it.updated)


def _queued(facts: Facts) -> Sequence[FullQueue]:
    """The full queues that have room for all their workloads."""
    excesses = facts.derive(queue_sums) if "workloads-exceed-queue" in facts.run else ()
    reported = {each.workload.at for it in excesses if not it.jobs for each in it.members}
    return [it for it in facts.derive(full_queues) if it.room.workload.at not in reported]


def _stuck(facts: Facts) -> Sequence[_Full]:
    """The full quotas, once for the same Deployments."""
    limits = facts.cluster.derive(bounds)
    found: dict[tuple[At, tuple[Workload, ...]], _Full] = {}
    for (namespace, key), amounts in facts.derive(used_until_deleted).items():
        bound, used = limits[namespace][key], summed(amounts.values())
        room = bound.limit - used
        if room < 0:
            continue  # other rules report workloads without room
        updated = tuple(
            it
            for it in amounts
            if any(exceeds(charge(template.spec, key), room) for template in it.templates)
            if (update := rollout(facts.cluster, it)) and update.strict
        )
        if updated:
            found.setdefault(
                (bound.quota.at, updated), _Full(bound, key, used, [*amounts], updated)
            )
    return [*found.values()]


def _of_quota(it: _Full) -> Hit:
    """One hit for all Deployments of which a quota refuses the new pod."""
    name = "pods" if it.key in PODS else resource_of(it.key)
    several = len(it.members) > 1
    who = some([str(each) for each in it.members], "other workload")
    first = it.updated[0]
    used, limit = readable(name, it.used, it.bound.limit), amount_of(name, it.bound.limit, it.used)
    return Hit(
        RULE,
        f"{who} {'together use' if several else 'uses'} {used} of the {limit} that {it.bound.quota} allows; "
        f"{an_update_waits(it.updated if several else (), 'the quota refuses')}",
        first.at.to("spec", "strategy"),
        (
            it.bound.quota.at.to("spec", "hard", it.key),
            *(each.at for each in it.members if each is not first),
        ),
    )


RULE = ObjectRule(
    "rollout-exceeds-quota",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write maxUnavailable: 1 and maxSurge: 0.",
    judges=("Deployment",),
    check=check,
    reads=tuple(
        dict.fromkeys(
            (
                "ResourceQuota",
                "Node",
                "HorizontalPodAutoscaler",
                "LimitRange",
                "ScaledObject",
                *READS,
                *READS_OF_JOBS,
            )
        )
    ),
)
