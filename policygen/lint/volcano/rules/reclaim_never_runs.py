"""Queues lend resources that they deserve, but the scheduler never reclaims these resources."""

from fractions import Fraction

from policygen.kubernetes.volcano import QueueView
from policygen.lint.other_rules import places
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano.configuration import all_settings
from policygen.lint.volcano.rules import volcano_configuration_not_loaded

_STARVING = ("gang", "priority", "tdm")
"""The plugins that report jobs without enough pods."""


def check(facts: Facts) -> Hits:
    """No default configuration has the action.

    It acts only for jobs that a plugin reports as starving. A guarantee is not lent.
    Source: pkg/scheduler/actions/reclaim/reclaim.go; framework/session_plugins.go, JobStarving;
    installer/helm/chart/volcano/config.
    """
    lending = [queue for queue in facts.cluster.queues if _lends(queue.fields)]
    borrowing = [queue for queue in facts.cluster.queues if _borrows(queue.fields)]
    pairs = ((one, other) for one in lending[:2] for other in borrowing[:2] if one is not other)
    lender, borrower = next(pairs, (None, None))
    if lender is None or borrower is None:
        return
    dropped = set(places(facts, (volcano_configuration_not_loaded.RULE,)))
    for configuration in all_settings(facts):
        if configuration.capacity is None or configuration.actions_at in dropped:
            continue
        effect = (
            f"{borrower} returns the resources of {lender} only when the jobs of {borrower} end"
        )
        if not {"reclaim", "gangreclaim"} & set(configuration.actions):
            yield Hit(
                RULE,
                f"actions do not include reclaim, so {effect}; add reclaim, or set "
                "guarantee.resource for resources that must not be lent",
                configuration.actions_at,
                (lender.at, borrower.at),
            )
        elif not any(
            plugin.name in _STARVING and plugin.on("enableJobStarving")
            for plugin in configuration.plugins
        ):
            yield Hit(
                RULE,
                "action reclaim acts only for jobs that a plugin reports as starving, but no enabled "
                f"plugin reports such jobs, so {effect}; add the plugin priority",
                configuration.actions_at,
                (lender.at, borrower.at),
            )


def _lends(queue: QueueView) -> bool:
    kept = queue.guarantee.resource
    return any(amount > kept.get(name, Fraction(0)) for name, amount in queue.deserved.items())


def _borrows(queue: QueueView) -> bool:
    deserved = queue.deserved
    return any(
        name not in queue.capability or amount < queue.capability[name]
        for name, amount in deserved.items()
    )


RULE = ObjectRule(
    "reclaim-never-runs",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Add reclaim to the actions, and priority to the plugins.",
    judges=("Queue",),
    check=check,
    needs=frozenset({Need.VOLCANO_CONFIGURATION}),
)
