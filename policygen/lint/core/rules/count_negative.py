"""A number of pods, retries or seconds is negative."""

from policygen.kubernetes.untyped import mapping
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_JOB = (
    "activeDeadlineSeconds",
    "backoffLimit",
    "backoffLimitPerIndex",
    "completions",
    "maxFailedIndexes",
    "parallelism",
    "ttlSecondsAfterFinished",
)
_SETS = ("minReadySeconds", "progressDeadlineSeconds", "replicas", "revisionHistoryLimit")
_CRON = ("failedJobsHistoryLimit", "startingDeadlineSeconds", "successfulJobsHistoryLimit")
_SPEC = ("spec",)
_OF_SETS = ((_SPEC, _SETS),)
_COUNTS = {
    "StatefulSet": ((_SPEC, _SETS[:-1]),),  # ValidateStatefulSetSpec does not check the last one
    "Job": ((_SPEC, _JOB),),
    "CronJob": ((_SPEC, _CRON), (("spec", "jobTemplate", "spec"), _JOB)),
}
"""Mappings with counts, and the fields, by kind; other kinds have `_OF_SETS`."""
_KINDS = ("CronJob", "DaemonSet", "Deployment", "Job", "ReplicaSet", "StatefulSet")


def check(facts: Facts) -> Hits:
    """Source: pkg/apis/core/validation, ValidateNonnegativeField, which apps and batch call."""
    for workload in facts.cluster.workloads_of("apps", "batch"):
        for path, fields in _COUNTS.get(workload.kind, _OF_SETS):
            spec = mapping(workload.object.data, *path)
            for field in fields:
                if field in spec and isinstance(value := spec[field], int) and value < 0:
                    yield Hit(
                        RULE,
                        f"{workload} has {field} {value}, which is refused; write 0 or more",
                        workload.at.to(*path, field),
                    )


RULE = ObjectRule(
    "count-negative",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write 0 or more, or omit the field to use its default.",
    judges=_KINDS,
    check=check,
)
