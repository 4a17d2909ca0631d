"""Queues lend what they deserve, and no action ever takes it back."""

from collections.abc import Iterator
from fractions import Fraction

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.kubernetes.volcano import Queue
from policygen.lint.rule import Facts, Family, Need, ObjectRule
from policygen.lint.volcano.configuration import all_settings

_STARVING = ("gang", "priority", "tdm")
"""The plugins that tell which jobs lack pods."""


def check(facts: Facts) -> Iterator[Hit]:
    """No default configuration has the action, and it acts only for jobs that a plugin calls starving.

    What a guarantee covers is not lent.
    Source: pkg/scheduler/actions/reclaim/reclaim.go; framework/session_plugins.go, JobStarving;
    installer/helm/chart/volcano/config.
    """
    lending = [queue for queue in facts.cluster.queues if _lends(queue.it)]
    borrowing = [queue for queue in facts.cluster.queues if _borrows(queue.it)]
    pairs = ((one, other) for one in lending[:2] for other in borrowing[:2] if one is not other)
    lender, borrower = next(pairs, (None, None))
    if lender is None or borrower is None:
        return
    for each in all_settings(facts):
        if each.capacity is None:
            continue
        fate = f"what {lender} deserves and {borrower} uses comes back only when jobs end"
        if not {"reclaim", "gangreclaim"} & set(each.actions):
            yield Hit(
                RULE,
                f"the actions lack reclaim, so {fate}; add reclaim, or write what is not to be "
                "lent as guarantee.resource",
                each.actions_at,
                (lender.at, borrower.at),
            )
        elif not any(it.name in _STARVING and it.on("enableJobStarving") for it in each.plugins):
            yield Hit(
                RULE,
                f"reclaim acts only for jobs that a plugin calls starving, and none does, so "
                f"{fate}; add the plugin priority",
                each.actions_at,
                (lender.at, borrower.at),
            )


def _lends(it: Queue) -> bool:
    kept = it.guarantee.resource
    return any(amount > kept.get(name, Fraction(0)) for name, amount in it.deserved.items())


def _borrows(it: Queue) -> bool:
    deserved = it.deserved
    return any(
        name not in it.capability or amount < it.capability[name]
        for name, amount in deserved.items()
    )


RULE = ObjectRule(
    "reclaim-never-runs",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("Queue",),
    check=check,
    needs=frozenset({Need.VOLCANO_CONFIGURATION}),
    reads=("volcano-scheduler.conf",),
)
