"""Pods of a Deployment or similar workload have a restartPolicy other than Always."""

from policygen.lint.core import pod_templates, selectors
from policygen.lint.rule import Edit, Facts, Family, Fix, Hit, Hits, ObjectRule, Severity, Verb


def check(facts: Facts) -> Hits:
    """`job-restarts-always` reports Jobs, which must not restart always.

    Source: pkg/apis/apps/validation/validation.go.
    """
    for spec in pod_templates.pod_specs(facts.cluster):
        workload, policy = spec.owner, spec.data.get("restartPolicy") or "Always"
        if workload.object.group == "apps" and isinstance(policy, str) and policy != "Always":
            yield Hit(
                RULE,
                f"{workload} has restartPolicy {policy}, which is refused for this kind; remove restartPolicy",
                spec.at / "restartPolicy",
                edits=(Edit(Verb.REMOVE, spec.at / "restartPolicy"),),
            )


RULE = ObjectRule(
    "restart-policy-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Omit restartPolicy, or use a Job for work that ends.",
    judges=selectors.OWNERS,
    check=check,
    fix=Fix.SAFE,
)
