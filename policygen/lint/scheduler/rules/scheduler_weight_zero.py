"""A score plugin has weight 0, which kube-scheduler reads as 1."""

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.scheduler.scoring import profiles


def check(facts: Facts) -> Hits:
    """kube-scheduler treats 0 as not set, and then uses 1.

    Source: pkg/scheduler/framework/runtime/framework.go, getScoreWeights.
    """
    for scored in profiles(facts.cluster):
        for point in ("score", "multiPoint"):
            plugins = scored.profile.plugins.get(point)
            for i, plugin in enumerate(plugins.enabled if plugins else ()):
                if plugin.weight == 0:
                    yield Hit(
                        RULE,
                        f"profile {scored.name} has weight 0 for {plugin.name}, which is read as "
                        f"1; list the plugin under {point}.disabled",
                        scored.at.to("plugins", point, "enabled", i, "weight"),
                    )


RULE = ObjectRule(
    "scheduler-weight-zero",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="List the plugin under disabled instead.",
    judges=("KubeSchedulerConfiguration",),
    check=check,
)
