"""A queued workload uses a ResourceClaim by its name."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.queue_names import queued
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Kueue counts claims that are made from a template, one for each pod; others it turns down.

    Source: pkg/controller/core/workload_controller.go (HasResourceClaim).
    """
    for each in facts.cluster.derive(queued):
        for template in each.workload.templates:
            for i, claim in enumerate(template.spec.resource_claims):
                if claim.get("resourceClaimName"):
                    yield Hit(
                        RULE,
                        f"{each.workload} uses ResourceClaim {claim['resourceClaimName']} by name, "
                        "which Kueue does not admit; write resourceClaimTemplateName",
                        template.at.to("spec", "resourceClaims", i, "resourceClaimName"),
                    )


RULE = ObjectRule(
    "resource-claim-not-supported",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=KINDS,
    check=check,
    since={"kueue": (0, 18)},
    reads=("ClusterQueue", "LocalQueue"),
)
