"""Queues say what they deserve, and the scheduler shares by weight."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, Need, ObjectRule
from policygen.lint.volcano.configuration import all_settings
from policygen.lint.volcano.queues import ROOT


def check(facts: Facts) -> Iterator[Hit]:
    """Proportion computes deserved from weights. Where parents are ignored too, that is told.

    The scheduler itself writes what the root deserves, whatever its plugins.
    Source: pkg/scheduler/plugins/proportion/proportion.go; pkg/scheduler/framework/session.go.
    """
    queues = [queue for queue in facts.cluster.queues if queue.name != ROOT]
    deserving = [queue for queue in queues if queue.it.deserved]
    if not deserving or any(queue.it.parent not in ("", ROOT) for queue in queues):
        return
    for each in all_settings(facts):
        if each.proportion is not None:
            yield Hit(
                RULE,
                f"proportion shares by weight and does not read what {deserving[0]} deserves; use "
                "capacity in its place",
                each.proportion.at / "name",
                (deserving[0].at.to("spec", "deserved"),),
            )


RULE = ObjectRule(
    "deserved-ignored",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("Queue",),
    check=check,
    needs=frozenset({Need.VOLCANO_CONFIGURATION}),
    reads=("volcano-scheduler.conf",),
)
