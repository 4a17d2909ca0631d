"""An admission check names a flavor that its ClusterQueue does not have."""

from policygen.lint.kueue.admission_checks import checked, stray_flavors
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """From 0.17 on; before, `admission-check-flavor-ignored` reports it. Existing queues stay unchanged.

    Source: pkg/webhooks/clusterqueue_webhook.go, validateAdmissionCheckOnFlavors; issue 7259.
    """
    effect = "Kueue refuses it" if facts.cluster.seen is None else "the check has no effect"
    for queue in facts.cluster.derive(checked):
        for at, fault, remedy in stray_flavors(queue):
            yield Hit(RULE, f"{fault}, so {effect}; {remedy}", at)


RULE = ObjectRule(
    "admission-check-flavor-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write a flavor of the ClusterQueue in onFlavors, or add the flavor to the queue.",
    judges=("ClusterQueue",),
    check=check,
    may_exist=True,
    since={"kueue": (0, 17)},
    aliases=("check-flavor-refused",),
)
