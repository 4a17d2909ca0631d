"""A KubeSchedulerConfiguration is of a version that kube-scheduler no longer reads."""

from collections.abc import Iterator

from policygen.core.finding import Edit, Hit, Verb
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, Fix, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Only v1 is left; v1beta3 went with 1.29.

    Source: pkg/scheduler/apis/config/scheme/scheme.go of all releases that we know.
    """
    for each in facts.cluster.scheduler_configurations:
        if each.object.version != "v1":
            at = each.at / "apiVersion"
            edit = Edit(Verb.REWRITE, at, "kubescheduler.config.k8s.io/v1")
            yield Hit(
                RULE,
                f"{each.object.api_version} is no longer read, so kube-scheduler does not start; "
                "write kubescheduler.config.k8s.io/v1",
                at,
                # v1 is v1beta3; what came before has other fields and defaults.
                edits=(edit,) if each.object.version == "v1beta3" else (),
            )


RULE = ObjectRule(
    "scheduler-configuration-version-gone",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=("KubeSchedulerConfiguration",),
    check=check,
    fix=Fix.SAFE,
)
