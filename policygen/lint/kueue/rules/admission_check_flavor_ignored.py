"""A ClusterQueue uses an admission check for a flavor that the queue does not have."""

from policygen.lint.kueue.admission_checks import checked, stray_flavors
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Before 0.17 Kueue accepts it, and workloads skip the check. Later webhooks refuse it.

    Source: pkg/webhooks/clusterqueue_webhook.go; issue 7259.
    """
    for queue in facts.cluster.derive(checked):
        for at, name, flavor, remedy in stray_flavors(queue):
            yield Hit(
                RULE,
                f'{queue} uses AdmissionCheck "{name}" for flavor "{flavor}", which the queue does '
                f"not have, so the check has no effect; {remedy}",
                at,
            )


RULE = ObjectRule(
    "admission-check-flavor-ignored",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write flavors of this ClusterQueue in onFlavors.",
    judges=("ClusterQueue",),
    check=check,
    until={"kueue": (0, 17)},
    aliases=("on-flavors-unused",),
)
