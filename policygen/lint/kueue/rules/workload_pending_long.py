"""A Workload has waited for quota for longer than it should."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.kubernetes.object import Object
from policygen.lint.core.conditions import condition, created, holds, long
from policygen.lint.rule import Facts, Family, Need, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """One that somebody deactivated waits for that somebody.

    Source: apis/kueue/v1beta2/workload_types.go of Kueue 0.19.2 (QuotaReserved, Evicted, Finished).
    """
    for it in facts.cluster.kueue_workloads:
        if not it.it.active or holds(it.object, "Finished") or holds(it.object, "QuotaReserved"):
            continue
        since = _since(it.object)
        if since is None:
            continue
        age = facts.now - since
        if age > facts.bound(RULE):
            found = condition(it.object, "QuotaReserved")
            why = found.message if found else ""
            remedy = (
                "mend that" if why and "insufficient" not in why else "give its queue the quota"
            )
            yield Hit(
                RULE,
                f'{it} of queue "{it.it.queue_name}" has waited for {long(age)}{why and ": "}{why}; '
                f"{remedy}, or take it out",
                it.at,
            )


def _since(it: Object) -> datetime | None:
    """When it began to wait: when it was evicted last, or made."""
    evicted = condition(it, "Evicted")
    return evicted.since if evicted and evicted.holds else created(it)


RULE = ObjectRule(
    "workload-pending-long",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("Workload",),
    check=check,
    needs=frozenset({Need.SEEN}),
    bound=timedelta(hours=24),
)
