"""A number of pods, retries or seconds is negative."""

from collections.abc import Iterator

from policygen.core.finding import At
from policygen.kubernetes.workloads import Workload
from policygen.lint.core.webhook_objects import webhook_object
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
_KINDS = ("CronJob", "DaemonSet", "Deployment", "Job", "ReplicaSet", "StatefulSet")


def check(facts: Facts) -> Hits:
    """Source: pkg/apis/core/validation, ValidateNonnegativeField, which apps and batch call."""
    for workload in facts.cluster.workloads:
        if workload.object.group not in {"apps", "batch"}:
            continue
        for at, value in _counts(workload):
            if isinstance(value, int) and value < 0:
                yield Hit(
                    RULE,
                    f"{workload} has {at.path[-1]} {value}, which is refused; write 0 or more",
                    at,
                )


def _counts(workload: Workload) -> Iterator[tuple[At, object]]:
    at = workload.at / "spec"
    if workload.object.group == "apps":
        # ValidateStatefulSetSpec does not check revisionHistoryLimit.
        fields = _SETS[:-1] if workload.kind == "StatefulSet" else _SETS
        yield from ((at / field, workload.spec.get(field)) for field in fields)
        return
    if workload.kind == "CronJob":
        yield from ((at / field, workload.spec.get(field)) for field in _CRON)
    job = webhook_object(workload)
    yield from ((job.at.to("spec", field), job.spec.get(field)) for field in _JOB)


RULE = ObjectRule(
    "count-negative",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write 0 or more, or omit the field to use its default.",
    judges=_KINDS,
    check=check,
)
