"""A KubeSchedulerConfiguration is of a version that kube-scheduler no longer reads."""

from collections.abc import Iterator

from policygen.finding import Severity
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """Only v1 is left; v1beta3 went with 1.29.

    Source: pkg/scheduler/apis/config/scheme/scheme.go of all releases that we know.
    """
    for each in facts.cluster.scheduler_configurations:
        if each.object.version != "v1":
            yield Claim(
                f"{each.object.api_version} is no longer read, so kube-scheduler does not start; "
                "write kubescheduler.config.k8s.io/v1",
                each.at / "apiVersion",
            )


RULE = Rule(
    "scheduler-configuration-version-gone",
    Severity.ERROR,
    Family.INVALID,
    judges=("KubeSchedulerConfiguration",),
    check=check,
)
