"""A score plugin has weight 0, which is read as its default."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.scheduler.scoring import profiles


def check(facts: Facts) -> Iterator[Hit]:
    """0 is absent to the program, and absent is 1.

    Source: pkg/scheduler/framework/runtime/framework.go, getScoreWeights.
    """
    for profile in profiles(facts.cluster):
        for point in ("score", "multiPoint"):
            plugins = profile.it.plugins.get(point)
            for i, plugin in enumerate(plugins.enabled if plugins else ()):
                if plugin.weight == 0:
                    yield Hit(
                        RULE,
                        f"weight 0 of {plugin.name} is read as 1; to silence it, list it under "
                        f"{point}.disabled",
                        profile.at.to("plugins", point, "enabled", i, "weight"),
                    )


RULE = ObjectRule(
    "scheduler-weight-zero",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("KubeSchedulerConfiguration",),
    check=check,
)
