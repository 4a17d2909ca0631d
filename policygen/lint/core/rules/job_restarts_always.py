"""A Job's pods would be restarted for ever, which the API server refuses."""

from collections.abc import Iterator

from policygen.core.finding import Severity
from policygen.lint.rule import Claim, Facts, Family, Rule

_POLICIES = ("Never", "OnFailure")


def check(facts: Facts) -> Iterator[Claim]:
    """Not written, the policy is Always, which a Job may not have.

    Source: pkg/apis/batch/validation/validation.go, validateJobSpec.
    """
    for workload in facts.cluster.workloads:
        if workload.object.group != "batch":
            continue
        for template in workload.templates:
            policy = template.spec.restart_policy
            if policy not in _POLICIES:
                yield Claim(
                    f"the pods of {workload} have restartPolicy {policy or 'Always by default'}, "
                    "which is refused of a Job; write restartPolicy: Never",
                    template.at.to("spec", "restartPolicy"),
                )


RULE = Rule(
    "job-restarts-always",
    Severity.ERROR,
    Family.INVALID,
    judges=("CronJob", "Job"),
    check=check,
)
