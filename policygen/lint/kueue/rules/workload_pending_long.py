"""A Workload has waited for quota for more than 24 hours, or the time set in lint.bounds."""

from datetime import timedelta

from policygen.kubernetes.conditions import condition, long
from policygen.lint.kueue.rules import workload_starves
from policygen.lint.kueue.waiting import waiting
from policygen.lint.other_rules import places
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Workloads that `waiting` knows, without those that starve, which have a rule of their own."""
    late = [
        (it, facts.now - since)
        for it, since in waiting(facts.cluster)
        if facts.now - since > facts.bound(RULE)
    ]
    starving = frozenset(places(facts, [workload_starves.RULE]) if late else ())
    for workload, age in late:
        if workload.at in starving:
            continue
        found = condition(workload.object, "QuotaReserved")
        why = found.message if found else ""
        reason = f" ({why})" if why else ""
        remedy = (
            "fix the problem that blocks admission"
            if why and "insufficient" not in why
            else "raise the quota of the queue"
        )
        yield Hit(
            RULE,
            f'{workload} of queue "{workload.fields.queue_name}" has waited for {long(age)}{reason}; '
            f"{remedy}, or delete the Workload",
            workload.at,
        )


RULE = ObjectRule(
    "workload-pending-long",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Raise the quota, let the queue borrow, or delete the Workload.",
    judges=("Workload",),
    check=check,
    needs=frozenset({Need.SEEN}),
    reads=workload_starves.RULE.reads,
    bound=timedelta(hours=24),
)
