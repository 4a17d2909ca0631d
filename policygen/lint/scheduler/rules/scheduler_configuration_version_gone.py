"""A KubeSchedulerConfiguration has a version that kube-scheduler no longer reads."""

from policygen.lint.rule import Edit, Facts, Family, Fix, Hit, Hits, ObjectRule, Severity, Verb


def check(facts: Facts) -> Hits:
    """Only v1 is left; release 1.29 removed v1beta3.

    Source: pkg/scheduler/apis/config/scheme/scheme.go of all known releases.
    """
    for entry in facts.cluster.scheduler_configurations:
        if entry.object.version != "v1":
            at = entry.at / "apiVersion"
            edit = Edit(Verb.REWRITE, at, "kubescheduler.config.k8s.io/v1")
            yield Hit(
                RULE,
                f"apiVersion {entry.object.api_version} was removed, so kube-scheduler does not "
                "start; write kubescheduler.config.k8s.io/v1",
                at,
                # v1 equals v1beta3; earlier versions have other fields and defaults.
                edits=(edit,) if entry.object.version == "v1beta3" else (),
            )


RULE = ObjectRule(
    "scheduler-configuration-version-gone",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write kubescheduler.config.k8s.io/v1.",
    judges=("KubeSchedulerConfiguration",),
    check=check,
    fix=Fix.SAFE,
)
