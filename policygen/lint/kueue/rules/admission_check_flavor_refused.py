"""onFlavors of an admission check names a flavor that the ClusterQueue does not have."""

from policygen.lint.kueue.admission_checks import checked, stray_flavors
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """From 0.17 on; before, `admission-check-flavor-ignored` reports it. Existing queues stay unchanged.

    Source: pkg/webhooks/clusterqueue_webhook.go, validateAdmissionCheckOnFlavors; issue 7259.
    """
    exists = facts.cluster.seen is not None
    effect = "the check has no effect" if exists else "Kueue refuses the queue"
    for queue in facts.cluster.derive(checked):
        for at, name, flavor, remedy in stray_flavors(queue):
            yield Hit(
                RULE,
                f'{queue} uses AdmissionCheck "{name}" for flavor "{flavor}", which the queue does '
                f"not have, so {effect}; {remedy}",
                at,
            )


RULE = ObjectRule(
    "admission-check-flavor-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write a flavor of the ClusterQueue in onFlavors, or add the missing flavor to the queue.",
    judges=("ClusterQueue",),
    check=check,
    may_exist=True,
    since={"kueue": (0, 17)},
    aliases=("check-flavor-refused",),
)
