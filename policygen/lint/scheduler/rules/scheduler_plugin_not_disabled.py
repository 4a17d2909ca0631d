"""A profile disables a plugin that there is not, so the one that is meant goes on."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.core.suggest import suggest
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.scheduler import terms
from policygen.lint.scheduler.profiles import misnamed
from policygen.lint.scheduler.scoring import profiles


def check(facts: Facts) -> Iterator[Hit]:
    """Names under `disabled` are only looked for; plugins of other releases and builds are let pass.

    Source: pkg/scheduler/apis/config/v1/default_plugins.go, mergePluginSet (Kubernetes 1.36.3).
    """
    target = facts.target["kubernetes"]
    known = terms.plugins(target)
    for profile in profiles(facts.cluster):
        for way, name in misnamed(profile.it):
            yield Hit(
                RULE,
                f'profile {profile.name} disables "{name}", which is no plugin of kube-scheduler '
                f"{target}, so nothing is disabled; {suggest(name, known)}",
                profile.at.to(*way),
            )


RULE = ObjectRule(
    "scheduler-plugin-not-disabled",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("KubeSchedulerConfiguration",),
    check=check,
)
