"""A Namespace names a Queue in an annotation, but the webhook that reads this annotation is off by default."""

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
                f"{namespace} has annotation {VOLCANO_QUEUE}, which only the webhook /podgroups/mutate reads. This webhook is off by default, so the pods go to queue default; write the annotation in the pod templates, or enable the webhook",
                namespace.at.to("metadata", "annotations", VOLCANO_QUEUE).on_key(),
            )


RULE = ObjectRule(
    "namespace-queue-ignored",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the annotation scheduling.volcano.sh/queue-name in the pod templates, or enable the webhook /podgroups/mutate.",
    judges=("Namespace",),
    check=check,
)
