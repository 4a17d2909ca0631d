"""A profile enables a plugin that kube-scheduler does not have."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.core.suggest import suggest
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.scheduler import terms
from policygen.lint.scheduler.scoring import profiles


def check(facts: Facts) -> Iterator[Hit]:
    """It does not start. Plugins of known builds of the scheduler are let pass.

    Source: pkg/scheduler/framework/runtime/framework.go, NewFramework (Kubernetes 1.36.3).
    """
    target = facts.target["kubernetes"]
    known = terms.plugins(target)
    for profile in profiles(facts.cluster):
        for point, plugins in profile.it.plugins.items():
            for i, plugin in enumerate(plugins.enabled):
                if plugin.name in known or plugin.name in terms.OTHERS:
                    continue
                yield Hit(
                    RULE,
                    f'profile {profile.name} enables "{plugin.name}", which is no plugin of '
                    f"kube-scheduler {target}: it does not start; {suggest(plugin.name, known)}",
                    profile.at.to("plugins", point, "enabled", i, "name"),
                )


RULE = ObjectRule(
    "scheduler-plugin-unknown",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=("KubeSchedulerConfiguration",),
    check=check,
)
