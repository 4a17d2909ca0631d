"""A Namespace names a Queue, but the webhook that reads it is off by default."""

from policygen.core.names import VOLCANO_QUEUE
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Off by default since 1.12, the first supported release.

    Source: pkg/webhooks/admission/podgroups/mutate; installer/helm/chart/volcano/values.yaml.
    """
    for namespace in facts.cluster.namespaces:
        if VOLCANO_QUEUE in namespace.annotations:
            yield Hit(
                RULE,
                f"{namespace} names a queue, but only the webhook /podgroups/mutate reads this name, and it is off by default, so the pods go to queue default; write the annotation on the pods, or enable the webhook",
                namespace.at.to("metadata", "annotations", VOLCANO_QUEUE).on_key(),
            )


RULE = ObjectRule(
    "namespace-queue-ignored",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the annotation on the pods, or enable the webhook /podgroups/mutate.",
    judges=("Namespace",),
    check=check,
)
