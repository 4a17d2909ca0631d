"""A Workload has waited for quota for more than 24 hours, or the time set in lint.bounds."""

from datetime import datetime, timedelta

from policygen.kubernetes.conditions import condition, created, holds, long
from policygen.kubernetes.object import Object
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Workloads that a user deactivated are not reported.

    Source: apis/kueue/v1beta2/workload_types.go of Kueue 0.19.2 (QuotaReserved, Evicted, Finished).
    """
    for workload in facts.cluster.kueue_workloads:
        if (
            not workload.fields.active
            or holds(workload.object, "Finished")
            or holds(workload.object, "QuotaReserved")
        ):
            continue
        since = _since(workload.object)
        if since is None:
            continue
        age = facts.now - since
        if age > facts.bound(RULE):
            found = condition(workload.object, "QuotaReserved")
            why = found.message if found else ""
            reason = f" ({why})" if why else ""
            queue = workload.fields.queue_name
            yield Hit(
                RULE,
                f'{workload} of queue "{queue}" has waited for {long(age)}{reason}; fix the problem '
                "that blocks admission, or delete the Workload"
                if why and "insufficient" not in why
                else f'{workload} of queue "{queue}" has waited for {long(age)}{reason}; raise the '
                "quota of the queue, or delete the Workload",
                workload.at,
            )


def _since(workload: Object) -> datetime | None:
    """When it began to wait: its last eviction, or else its creation."""
    evicted = condition(workload, "Evicted")
    return evicted.since if evicted and evicted.holds else created(workload)


RULE = ObjectRule(
    "workload-pending-long",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Raise the quota, let the queue borrow, or delete the Workload.",
    judges=("Workload",),
    check=check,
    needs=frozenset({Need.SEEN}),
    bound=timedelta(hours=24),
)
