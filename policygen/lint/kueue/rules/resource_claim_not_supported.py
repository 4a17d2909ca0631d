"""A queued workload uses a ResourceClaim by name, which Kueue does not admit."""

from policygen.kubernetes.kueue_jobs import queued
from policygen.kubernetes.workloads import KINDS
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue counts claims that are created from a template for each pod, and admits no others.

    Source: pkg/controller/core/workload_controller.go (HasResourceClaim).
    """
    for job in facts.cluster.derive(queued):
        for template in job.workload.templates:
            for i, claim in enumerate(template.spec.resource_claims):
                if claim.get("resourceClaimName"):
                    yield Hit(
                        RULE,
                        f"{job.workload} uses ResourceClaim {claim['resourceClaimName']} "
                        "by name, so Kueue never admits the workload; use resourceClaimTemplateName instead",
                        template.at.to("spec", "resourceClaims", i, "resourceClaimName"),
                    )


RULE = ObjectRule(
    "resource-claim-not-supported",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Use resourceClaimTemplateName instead of resourceClaimName.",
    judges=KINDS,
    check=check,
    since={"kueue": (0, 18)},
    reads=("ClusterQueue", "LocalQueue"),
)
