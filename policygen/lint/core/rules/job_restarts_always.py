"""The pods of a Job have restartPolicy Always, which is refused."""

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The default is Always, which a Job may not have.

    Source: pkg/apis/batch/validation/validation.go, validateJobSpec.
    """
    for workload in facts.cluster.workloads:
        if workload.object.group != "batch":
            continue
        for template in workload.templates:
            policy = template.spec.restart_policy
            if policy in ("", "Always") and template.spec.containers:
                yield Hit(
                    RULE,
                    f"{workload} has restartPolicy {policy or 'Always by default'}, which is refused "
                    "for a Job; write restartPolicy: Never",
                    template.at.to("spec", "restartPolicy"),
                )


RULE = ObjectRule(
    "job-restarts-always",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write restartPolicy: Never, or OnFailure.",
    judges=("CronJob", "Job"),
    check=check,
)
