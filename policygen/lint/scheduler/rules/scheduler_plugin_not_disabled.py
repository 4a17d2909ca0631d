"""A kube-scheduler profile disables a plugin that does not exist, so the intended plugin stays enabled."""

from policygen.core.suggest import suggest
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.scheduler import terms
from policygen.lint.scheduler.profiles import misnamed
from policygen.lint.scheduler.scoring import profiles


def check(facts: Facts) -> Hits:
    """Unknown names under `disabled` are ignored. Plugins of other releases and builds are known.

    Source: pkg/scheduler/apis/config/v1/default_plugins.go, mergePluginSet (Kubernetes 1.36.3).
    """
    target = facts.target["kubernetes"]
    known = terms.plugins(target)
    for scored in profiles(facts.cluster):
        for path, name in misnamed(scored.profile):
            yield Hit(
                RULE,
                f'profile {scored.name} disables "{name}", which is not a plugin of '
                f"kube-scheduler {target}, so nothing is disabled; {suggest(name, known)}",
                scored.at.to(*path),
            )


RULE = ObjectRule(
    "scheduler-plugin-not-disabled",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write the plugin's exact name.",
    judges=("KubeSchedulerConfiguration",),
    check=check,
)
