"""A quota is not in canonical form, so Git and the cluster always differ."""

from policygen.core import quantity
from policygen.core.finding import at_path
from policygen.lint.kueue.quotas import every_quota, lacks_unit
from policygen.lint.rule import Edit, Facts, Family, Fix, Hit, Hits, ObjectRule, Severity, Verb


def check(facts: Facts) -> Hits:
    """Kueue's webhook rewrites quantities, so GitOps tools always see a difference.

    It rewrites only ClusterQueues, not Cohorts. Source: pkg/webhooks/clusterqueue_webhook.go;
    apimachinery, CanonicalizeBytes.
    """
    without_unit = "memory-quota-without-unit" in facts.run
    for placed in every_quota(facts.cluster.cluster_queues):
        if without_unit and lacks_unit(placed.quota):
            continue  # that rule reports it
        for field in ("nominalQuota", "borrowingLimit", "lendingLimit"):
            at = placed.at / field
            text = at_path(placed.owner.object.data, at.path[len(placed.owner.at.path) :])
            if not isinstance(text, str):
                continue
            try:
                canonical = quantity.canonical(quantity.parse(text))
            except ValueError:
                continue  # the API server refuses it
            if canonical != text:
                yield Hit(
                    RULE,
                    f'{placed.owner} has {field} "{text}", which Kueue rewrites as "{canonical}"; '
                    f"write {canonical}",
                    at,
                    edits=(Edit(Verb.REWRITE, at, canonical),),
                )


RULE = ObjectRule(
    "quota-not-canonical",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Write the quantity in canonical form, such as 1Gi for 1024Mi.",
    judges=("ClusterQueue",),
    check=check,
    fix=Fix.SAFE,
)
