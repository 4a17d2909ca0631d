"""The plugins capacity and proportion are both enabled, and contradict each other."""

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano.configuration import all_settings


def check(facts: Facts) -> Hits:
    """Both register order, shares and votes. Some are combined; of others the first one counts.

    Source: pkg/scheduler/framework/session_plugins.go; plugins/{capacity,proportion}.
    """
    for configuration in all_settings(facts):
        capacity, proportion = configuration.plugin("capacity"), configuration.plugin("proportion")
        if capacity is not None and proportion is not None:
            yield Hit(
                RULE,
                "plugins capacity and proportion are both enabled, and their shares contradict "
                "each other; keep capacity if queues have deserved or parents, otherwise "
                "keep proportion",
                proportion.at / "name",
                (capacity.at,),
            )


RULE = ObjectRule(
    "capacity-and-proportion-enabled",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Keep only capacity if queues have deserved or parents, otherwise keep only proportion.",
    judges=("volcano-scheduler.conf",),
    check=check,
    aliases=("capacity-beside-proportion",),
)
