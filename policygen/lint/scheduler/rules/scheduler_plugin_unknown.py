"""A profile enables a plugin that kube-scheduler does not have, so kube-scheduler does not start."""

from policygen.core.suggest import suggest
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.scheduler import terms
from policygen.lint.scheduler.scoring import profiles


def check(facts: Facts) -> Hits:
    """kube-scheduler does not start. Plugins of known builds of the scheduler are accepted.

    Source: pkg/scheduler/framework/runtime/framework.go, NewFramework (Kubernetes 1.36.3).
    """
    target = facts.target["kubernetes"]
    known = terms.plugins(target)
    for scored in profiles(facts.cluster):
        for point, plugins in scored.profile.plugins.items():
            for i, plugin in enumerate(plugins.enabled):
                if plugin.name in known or plugin.name in terms.OTHERS:
                    continue
                yield Hit(
                    RULE,
                    f'profile {scored.name} enables "{plugin.name}", which is not a plugin of '
                    f"kube-scheduler {target}, so kube-scheduler does not start; {suggest(plugin.name, known)}",
                    scored.at.to("plugins", point, "enabled", i, "name"),
                )


RULE = ObjectRule(
    "scheduler-plugin-unknown",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Remove the plugin, or write its exact name.",
    judges=("KubeSchedulerConfiguration",),
    check=check,
)
