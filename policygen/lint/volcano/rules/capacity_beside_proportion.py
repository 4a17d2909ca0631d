"""Two plugins decide what a queue may have, and neither alone."""

from collections.abc import Iterator

from policygen.core.finding import Severity
from policygen.lint.rule import Claim, Facts, Family, Rule
from policygen.lint.volcano.configuration import all_settings


def check(facts: Facts) -> Iterator[Claim]:
    """Both register order, shares and votes; some are combined, of others the first one counts.

    Source: pkg/scheduler/framework/session_plugins.go; plugins/{capacity,proportion}.
    """
    for each in all_settings(facts):
        capacity, proportion = each.plugin("capacity"), each.plugin("proportion")
        if capacity is not None and proportion is not None:
            yield Claim(
                "capacity and proportion are both on, and their shares contradict each other; "
                "keep capacity where queues have deserved or parents, else proportion",
                proportion.at / "name",
                (capacity.at,),
            )


RULE = Rule(
    "capacity-beside-proportion",
    Severity.ERROR,
    Family.INERT,
    judges=("volcano-scheduler.conf",),
    check=check,
)
