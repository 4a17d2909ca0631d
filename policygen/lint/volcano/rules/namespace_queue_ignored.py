"""A namespace names a queue, which Volcano reads only with a webhook that is off by default."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.names import VOLCANO_QUEUE
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Off since 1.12, which is the first release that we know.

    Source: pkg/webhooks/admission/podgroups/mutate; installer/helm/chart/volcano/values.yaml.
    """
    for namespace in facts.cluster.namespaces:
        if VOLCANO_QUEUE in namespace.annotations:
            yield Hit(
                RULE,
                f"{namespace} names a queue, which only the webhook /podgroups/mutate reads, and "
                "that is off unless the chart's enabled_admissions lists it: its pods go to queue "
                "default; annotate the pods, or switch it on",
                namespace.at.to("metadata", "annotations", VOLCANO_QUEUE).on_key(),
            )


RULE = ObjectRule(
    "namespace-queue-ignored",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("Namespace",),
    check=check,
)
