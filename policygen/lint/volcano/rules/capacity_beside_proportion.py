"""Two plugins decide what a queue may have, and neither alone."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.volcano.configuration import all_settings


def check(facts: Facts) -> Iterator[Hit]:
    """Both register order, shares and votes; some are combined, of others the first one counts.

    Source: pkg/scheduler/framework/session_plugins.go; plugins/{capacity,proportion}.
    """
    for each in all_settings(facts):
        capacity, proportion = each.plugin("capacity"), each.plugin("proportion")
        if capacity is not None and proportion is not None:
            yield Hit(
                RULE,
                "capacity and proportion are both on, and their shares contradict each other; "
                "keep capacity where queues have deserved or parents, else proportion",
                proportion.at / "name",
                (capacity.at,),
            )


RULE = ObjectRule(
    "capacity-beside-proportion",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("volcano-scheduler.conf",),
    check=check,
)
